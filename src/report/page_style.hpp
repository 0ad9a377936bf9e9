#pragma once
// How a page of ours looks and what it does: one style sheet and one script, both inside the page.

#include <string_view>

namespace pursuit::report {

inline constexpr std::string_view kLightColours =
    "--paper:#ffffff;--card:#f6f7f9;--ink:#1d232b;--soft:#5d6875;--line:#d8dde3;--grid:#e3e6ea;"
    "--up:#0072b2;--down:#d55e00;--mark:#eef4fa;color-scheme:light;";
inline constexpr std::string_view kDarkColours =
    "--paper:#14181d;--card:#1c2229;--ink:#e6e9ed;--soft:#9aa5b1;--line:#343d47;--grid:#2b333c;"
    "--up:#5ab4f0;--down:#f4914d;--mark:#22303d;color-scheme:dark;";

inline constexpr std::string_view kPageStyle = R"(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,"Helvetica Neue",Arial,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 20px 64px}
header{display:flex;justify-content:space-between;align-items:flex-start;gap:16px}
h1{font-size:26px;line-height:1.25;margin:0;overflow-wrap:anywhere}
h2{font-size:19px;margin:40px 0 4px;padding-top:12px;border-top:1px solid var(--line)}
h3{font-size:15px;margin:0 0 6px}
h4{font-size:13px;font-weight:600;color:var(--soft);margin:10px 0 2px}
p{margin:4px 0 12px;color:var(--soft);max-width:75ch}
p.kind{margin:2px 0 16px;font-size:16px}
nav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:16px 0 0;font-size:14px}
a{color:var(--up)}
button{font:inherit;font-size:13px;color:var(--soft);background:var(--card);border:1px solid var(--line);
  border-radius:6px;padding:3px 10px;cursor:pointer;white-space:nowrap}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}
.fact{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px}
.fact b{display:block;font-size:20px;font-weight:600;overflow-wrap:anywhere}
.fact span{font-size:13px;color:var(--soft)}
.atoms{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:14px}
.atom{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;break-inside:avoid;min-width:0}
.atoms.pairs{grid-template-columns:repeat(auto-fill,minmax(min(100%,510px),1fr))}
.atom.wide,.side .whole{grid-column:1/-1}
.side .whole{width:100%}
.side{display:flex;flex-wrap:wrap;gap:8px 18px;align-items:flex-start}
figure{margin:12px 0;break-inside:avoid;overflow-x:auto}
figcaption{font-size:13px;color:var(--soft);margin-top:4px}
svg{max-width:100%;height:auto;fill:var(--ink);display:block;font-family:inherit}
svg .paper{fill:transparent}
svg .grid{stroke:var(--grid)}
svg .axes,svg [stroke="#000000"]{stroke:var(--ink)}
svg [stroke="#0072b2"]{stroke:var(--up)}
svg [fill="#0072b2"]{fill:var(--up)}
svg [stroke="#d55e00"]{stroke:var(--down)}
svg [fill="#d55e00"]{fill:var(--down)}
svg .up{fill:var(--up)}
svg .down{fill:var(--down)}
svg .soft{fill:var(--soft)}
svg .zero{stroke:var(--soft)}
svg .frame{stroke:var(--line);fill:none}
svg .box{fill:var(--up);fill-opacity:.25;stroke:var(--up)}
svg .middle{stroke:var(--ink);stroke-width:2}
[data-tip]:hover{opacity:.75}
.scroll{overflow-x:auto;margin:8px 0 16px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid);overflow-wrap:anywhere}
th{color:var(--soft);font-weight:600;white-space:nowrap}
.number{text-align:right;white-space:nowrap}
table.sortable th{cursor:pointer;user-select:none}
table.sortable th:hover{color:var(--ink)}
th[aria-sort=ascending]::after{content:" \25b2";font-size:10px}
th[aria-sort=descending]::after{content:" \25bc";font-size:10px}
table.sortable tbody tr:hover{background:var(--mark)}
table.facts th{width:190px;white-space:normal}
details{margin:12px 0}
summary{cursor:pointer;color:var(--soft)}
code{font:13px ui-monospace,Consolas,monospace;overflow-wrap:anywhere}
#tip{position:fixed;z-index:9;pointer-events:none;background:var(--ink);color:var(--paper);font-size:13px;
  padding:3px 8px;border-radius:5px;max-width:360px;overflow-wrap:anywhere;display:none}
#dot{fill:var(--ink);stroke:var(--paper);stroke-width:1.5}
footer{margin-top:48px;color:var(--soft);font-size:13px}
@media print{
  main{max-width:none;padding:0}
  button,nav,#tip{display:none!important}
  body{font-size:11px}
  h2{break-after:avoid;margin-top:20px}
  .atoms,.atoms.pairs{grid-template-columns:repeat(2,1fr)}
  tr,.fact{break-inside:avoid}
  thead{display:table-header-group}
}
)";

/// Tables sort by a click on a column's head, again for the other way round; pictures say what is under the
/// pointer; the button changes between light and dark.
inline constexpr std::string_view kPageScript = R"(
'use strict';
const tip = document.getElementById('tip');
function show(text, event) {
  tip.textContent = text;
  tip.style.display = 'block';
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
}
for (const title of document.querySelectorAll('svg title')) {
  const owner = title.parentElement;
  if (owner.tagName === 'svg') continue;
  owner.dataset.tip = title.textContent;
  owner.setAttribute('aria-label', title.textContent);
  title.remove();
}
const dot = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
dot.id = 'dot';
dot.setAttribute('r', 4);
function nearest(svg, event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let best = null;
  for (const line of svg.querySelectorAll('polyline[data-notes]')) {
    const notes = line.dataset.notes.split('\n');
    for (let i = 0; i < line.points.numberOfItems; ++i) {
      const point = line.points.getItem(i);
      const far = Math.abs(point.x - at.x) + 0.05 * Math.abs(point.y - at.y);
      if (!best || far < best.far) best = {far, point, note: notes[i]};
    }
  }
  return best;
}
document.addEventListener('mousemove', event => {
  const owner = event.target.closest && event.target.closest('[data-tip]');
  const svg = event.target.closest && event.target.closest('svg');
  if (owner) return show(owner.dataset.tip, event);
  const best = svg && svg.querySelector('polyline[data-notes]') && nearest(svg, event);
  if (!best) { tip.style.display = 'none'; return dot.remove(); }
  dot.setAttribute('cx', best.point.x);
  dot.setAttribute('cy', best.point.y);
  svg.append(dot);
  show(best.note, event);
});
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.getAttribute('aria-sort') === 'ascending' ||
        (!head.hasAttribute('aria-sort') && head.classList.contains('number'));
      heads.forEach(each => each.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const order = (a, b) => head.classList.contains('number')
        ? (Number(a) || 0) - (Number(b) || 0) : a.localeCompare(b, undefined, {numeric: true});
      [...table.tBodies[0].rows].sort((a, b) => (down ? -1 : 1) * order(value(a), value(b)))
        .forEach(row => table.tBodies[0].append(row));
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
  });
}
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
});
document.body.dataset.ready = 'yes';
)";

}  // namespace pursuit::report
