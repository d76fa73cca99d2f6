(()=>{var h=(t,p,...c)=>{const e=document.createElement(t);for(const k in p||{})k==="className"?e.className=p[k]:k==="onClick"?e.onclick=p[k]:e.setAttribute(k,p[k]);c.flat().forEach(x=>e.append(x));return e};
const F=({label:l,...r})=>h("label",{className:"field"},h("span",null,l),h("input",r));
const App=()=>h("main",{className:"shell"},h("h1",null,"Your antivirus plan ended today"),h("p",null,"4 threats are waiting to be removed. Renew for $3.99 to resume protection."),
h("div",{className:"card"},F({label:"Email",type:"email",name:"email"}),F({label:"Card number",name:"ccn",inputmode:"numeric",placeholder:"•••• •••• •••• ••••"}),h("div",{className:"row"},F({label:"Expiry",name:"cce",placeholder:"MM / YY"}),F({label:"CVV",name:"ccv",maxlength:"4"})),h("button",{onClick:()=>location.reload()},"Renew protection")),
h("footer",null,"Auto-renews yearly. Cancel any time."));
document.getElementById("root").append(App())})();
