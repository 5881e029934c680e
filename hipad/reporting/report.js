// What the marks of charts tell, shown beside the pointer or finger; details are open on paper.
"use strict";

(() => {
  const told = document.createElement("div");
  told.id = "told";
  told.hidden = true;
  document.body.append(told);

  const show = (event) => {
    const mark = event.target.closest && event.target.closest("svg *");
    const title = mark && mark.querySelector(":scope > title");
    told.hidden = !title;
    if (!title) return;
    told.textContent = title.textContent;
    const box = told.getBoundingClientRect();
    told.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - box.width - 8))}px`;
    told.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8))}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);

  const closed = [];
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((one) => {
      closed.push(one);
      one.open = true;
    });
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((one) => { one.open = false; }));
  if (matchMedia("(max-width: 1179px)").matches) document.querySelector("nav details").open = false;
})();
