"""The look of the HTML report: light or dark as the reader's system is, and plain on paper."""

STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c2430; --soft: #5c6675; --line: #dfe4ea; --panel: #f6f8fa;
  --blue: #2a7fc9; --orange: #d9620f; --good: #1d7f4e; --bad: #b5283d; --warn: #8a6100; --warn-bg: #fff6dc; }
@media (prefers-color-scheme: dark) {
  :root { --page: #12161c; --ink: #e6eaf0; --soft: #9aa5b4; --line: #2b333e; --panel: #1a2028; --blue: #4a9be0;
    --orange: #ee7c2b; --good: #4cbf86; --bad: #f0707f; --warn: #e5bd5c; --warn-bg: #2c2614; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 48px 28px 64px; }
main.one { max-width: 860px; }
p { margin: 0 0 .5em; }
h1 { font-size: 2rem; line-height: 1.2; margin: .15em 0 .45em; letter-spacing: -.015em; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .8em; padding-bottom: .35em; border-bottom: 1px solid var(--line); }
section { margin-top: 44px; }
.made { color: var(--soft); display: flex; flex-wrap: wrap; align-items: center; gap: 10px; }
.sentence { font-size: 1.2rem; line-height: 1.45; max-width: 60em; overflow-wrap: anywhere; }
.source { color: var(--soft); font-size: .94rem; }
.source p { margin: 0 0 .2em; overflow-wrap: anywhere; }
.badge { font-size: .8rem; padding: 1px 9px; border: 1px solid var(--line); border-radius: 99px; color: var(--soft);
  font-weight: 500; white-space: nowrap; }
.badge.good { color: var(--good); border-color: currentColor; }
.note, .differs { color: var(--warn); background: var(--warn-bg); border-radius: 6px; padding: 6px 12px;
  margin: .6em 0 0; font-size: .94rem; overflow-wrap: anywhere; white-space: pre-line; }
dl { margin: 0; display: grid; gap: 7px; }
dl div { display: grid; grid-template-columns: 150px 1fr; gap: 16px; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: break-word; }
.narrow table { width: auto; min-width: 60%; }
th { color: var(--soft); font-weight: 500; font-size: .88rem; vertical-align: bottom; overflow-wrap: normal; }
.figure { text-align: right; overflow-wrap: normal; }
td.figure { white-space: nowrap; }
tr > :last-child { padding-right: 0; }
.dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 7px; }
.dot.pipeline { background: var(--blue); } .dot.agent { background: var(--orange); }
.heads, .pair, .sides { display: grid; grid-template-columns: 1fr; gap: 16px; }
.two .heads, .two .pair, .two .sides { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.two .pair.both { grid-template-columns: minmax(0, 1fr); }
.pair { margin-bottom: 16px; }
.pair .differs { grid-column: 1 / -1; margin: -6px 0 4px; }
.shape { font-weight: 600; text-transform: capitalize; margin: 0 0 .5em; }
.shape.pipeline, .who { color: var(--blue); } .shape.agent, .agent .who { color: var(--orange); }
.shape .count { font-weight: 400; color: var(--soft); text-transform: none; }
.card { border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 8px; padding: 16px 18px;
  background: var(--panel); min-width: 0; }
.card.pipeline { border-left-color: var(--blue); } .card.agent { border-left-color: var(--orange); }
.card.same { border-left-color: var(--good); }
.card.none { border-style: dashed; background: none; }
h3 { font-size: 1.05rem; margin: 0 0 .35em; display: flex; align-items: baseline; gap: 10px; }
.rank { color: var(--soft); font-weight: 400; }
.cause { overflow-wrap: anywhere; min-width: 0; }
h3 .count { margin-left: auto; white-space: nowrap; font-weight: 500; color: var(--soft); font-size: .94rem; }
.customers { color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
.who { font-size: .85rem; font-weight: 600; text-transform: capitalize; margin-bottom: .2em; }
.words { white-space: pre-line; overflow-wrap: anywhere; }
.quotes { columns: 2; column-gap: 24px; margin-top: .6em; }
blockquote { break-inside: avoid; margin: 0 0 .6em; padding-left: 12px; border-left: 2px solid var(--line);
  font-size: .93rem; }
blockquote .words { margin: 0; font-style: italic; }
blockquote footer { color: var(--soft); font-size: .86rem; }
blockquote.missing { border-left-color: var(--bad); } blockquote.missing footer { color: var(--bad); }
details { margin-top: .6em; }
details > summary { cursor: pointer; color: var(--soft); font-size: .92rem; overflow-wrap: anywhere; }
details table { font-size: .9rem; margin-top: .4em; }
.names { font-size: .9rem; margin-top: .6em; overflow-wrap: anywhere; }
.names b { color: var(--soft); font-weight: 500; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px;
  margin: .5em 0 1em; white-space: pre-wrap; overflow-wrap: anywhere;
  font: .86rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.checks { list-style: none; margin: 0; padding: 0; font-size: .94rem; }
.checks li { display: flex; gap: 9px; padding: 3px 0; }
.mark { flex: none; width: 1em; text-align: center; }
.passed .mark { color: var(--good); } .failed .mark, .failed .words { color: var(--bad); } .gap { color: var(--soft); }
figure { margin: 0 0 12px; }
figcaption { color: var(--soft); font-size: .92rem; margin-bottom: 8px; }
svg { width: 100%; height: auto; display: block; font-size: 13px; }
svg .tick { fill: var(--soft); font-size: 12px; } svg .grid { stroke: var(--line); } svg .axis { stroke: var(--soft); }
svg .crossing { stroke: var(--soft); stroke-dasharray: 4 4; }
svg .pipeline { fill: var(--blue); } svg .agent { fill: var(--orange); }
svg .law { fill: none; stroke-width: 2; opacity: .55; }
svg .law.pipeline { stroke: var(--blue); } svg .law.agent { stroke: var(--orange); }
svg .name { font-weight: 600; }
main > footer { margin-top: 52px; padding-top: 14px; border-top: 1px solid var(--line); color: var(--soft);
  font-size: .9rem; }
@media (max-width: 760px) {
  main { padding: 28px 16px 48px; }
  .two .heads { display: none; }
  .quotes { columns: 1; }
  .two .pair, .two .sides { grid-template-columns: minmax(0, 1fr); }
  .card.none { display: none; }
  dl div { grid-template-columns: 1fr; gap: 0; } }
@media print {
  :root { --page: #fff; --ink: #000; --soft: #444; --line: #ccc; --panel: #fff; --blue: #2a7fc9; --orange: #d9620f;
    --good: #1d7f4e; --bad: #b5283d; --warn: #6b4b00; --warn-bg: #fff; }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .card, figure, tr, blockquote { break-inside: avoid; }
  h2, h3, .heads { break-after: avoid; }
  .scroll { overflow: visible; }
  details:not([open])::details-content { content-visibility: visible; block-size: auto; } }
"""
