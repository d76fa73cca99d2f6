document.querySelectorAll('.rejilla button').forEach(function(b){b.onclick=function(){document.getElementById('marco').scrollIntoView({behavior:'smooth'});}});
