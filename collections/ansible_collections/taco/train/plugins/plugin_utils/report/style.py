# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a report looks: on wide and narrow screens, light and dark, and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b2330; --soft: #5a6575; --line: #dde2e9; --panel: #f5f7fa;
  --accent: #1f6feb; --band: #1f6feb22; --good: #1a7f37; --bad: #c02c35; --warn: #946200; --lab: #fff3cd; --lab-ink: #664d03;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --ink: #e4e8ee; --soft: #98a3b3; --line: #2c3440; --panel: #1a2028;
    --accent: #6cabff; --band: #6cabff2b; --good: #56c271; --bad: #ff7b81; --warn: #e0b050; --lab: #40340d; --lab-ink: #ffe08a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 74rem; padding: 1.5rem clamp(1rem, 4vw, 2.5rem) 3rem;
  background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.1rem; font-weight: 600; color: var(--soft); margin: 1rem 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .6rem; }
p, ul { margin: .4rem 0; }
ul { padding-left: 1.2rem; }
a { color: var(--accent); }
.lab { background: var(--lab); color: var(--lab-ink); font-weight: 600; padding: .6rem .9rem; border-radius: .4rem; }
.lead { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
.lead b { font-size: clamp(2.4rem, 8vw, 3.6rem); line-height: 1.1; font-variant-numeric: tabular-nums; margin-right: .2rem; }
.lead.none { font-size: 1.5rem; font-weight: 600; color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.time { white-space: nowrap; }
.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.ok, .failed, .fail, .warn { font-weight: 600; }
.ok { color: var(--good); } .failed, .fail { color: var(--bad); } .warn { color: var(--warn); }
figure { margin: 0 0 1rem; max-width: 44rem; }
figcaption { color: var(--soft); font-size: .875rem; }
.chart { display: case; width: 100%; min-width: 22rem; height: auto; }
.chart text { fill: var(--soft); font: 11px system-ui, "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--line); } .band { fill: var(--band); } .point { fill: var(--accent); }
.mean { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 5 4; }
.mark { fill: var(--arm, var(--accent)); stroke: none; } .trend { stroke: var(--arm, var(--accent)); stroke-width: 2; }
.one { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 4 3; }
.joined { fill: none; stroke: var(--accent); stroke-width: 2; }
.beside { margin: .6rem 0 0; color: var(--soft); font-size: .9375rem; }
.failure { border-left: 4px solid var(--bad); background: var(--panel); padding: .5rem 1rem; margin: .6rem 0; overflow-wrap: anywhere; }
pre {
  background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .9rem; margin: .4rem 0;
  font: .8125rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere;
}
footer { margin-top: 2.5rem; color: var(--soft); font-size: .8125rem; }
@media print {
  :root {
    --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --panel: #fff; --accent: #0b4fb3; --band: #0b4fb31f;
    --good: #116329; --bad: #a01520; --warn: #704a00; --lab: #fff; --lab-ink: #000;
  }
  body { max-width: none; padding: 0; font-size: 11pt; }
  .lab { border: 2px solid #000; }
  .scroll { overflow: visible; }
  table { font-size: 8pt; } th, td { padding-right: .4rem; }
  figure, .failure, tr, pre { break-inside: avoid; }
  h2 { break-after: avoid; }
}
"""
