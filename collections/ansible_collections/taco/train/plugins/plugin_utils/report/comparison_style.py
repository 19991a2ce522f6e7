# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the page of a comparison looks, beyond how every report does."""

from ansible_collections.taco.train.plugins.plugin_utils.report.style import STYLE as OF_EVERY_REPORT

STYLE = (
    OF_EVERY_REPORT
    + """
:root { --arm-0: #1f6feb; --arm-1: #bc4c00; --arm-2: #7a3fd0; --arm-3: #0b7a75; --arm-4: #b8327f; --arm-5: #7a6200; }
@media (prefers-color-scheme: dark) {
  :root { --arm-0: #6cabff; --arm-1: #ffa657; --arm-2: #c39bff; --arm-3: #4fd1c5; --arm-4: #ff8fc7; --arm-5: #d8c35a; }
}
.arm-0 { --arm: var(--arm-0); } .arm-1 { --arm: var(--arm-1); } .arm-2 { --arm: var(--arm-2); }
.arm-3 { --arm: var(--arm-3); } .arm-4 { --arm: var(--arm-4); } .arm-5 { --arm: var(--arm-5); }
body { max-width: 78rem; }
.question { font-size: 1.5rem; font-weight: 650; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.progress, .said { color: var(--soft); font-size: .875rem; }
.stop { border: 2px solid var(--bad); color: var(--bad); font-weight: 600; padding: .6rem .9rem; border-radius: .4rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; }
.better, .worse, .equivalent, .inconclusive, .refused { font-weight: 600; white-space: nowrap; }
.better { color: var(--good); } .worse, .refused { color: var(--bad); } .inconclusive { color: var(--warn); }
th, th.number { white-space: normal; vertical-align: bottom; }
.why { min-width: 12rem; }
.code { font: .8125rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; min-width: 14rem; }
.name, .long { font-weight: 600; } .name { white-space: nowrap; } .long { min-width: 9.5rem; }
.lossy {
  display: inline-case; border: 1px solid var(--warn); color: var(--warn); border-radius: .3rem; padding: 0 .35rem;
  font-size: .85em; font-weight: 600; line-height: 1.35;
}
.published { color: var(--warn); font-weight: 600; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1rem 2rem; }
.charts figure { max-width: 36rem; min-width: 0; }
.chart { min-width: 22.5rem; }
.chart.wide { min-width: 60rem; }
.charts figure:has(.wide) { grid-column: 1 / -1; max-width: none; }
.chart text.group { fill: var(--ink); font-size: 12px; font-weight: 600; }
.chart text.row { fill: var(--ink); font-size: 12px; }
.chart text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.chart text.label { font-size: 11px; }
.chart text.verdict { font-size: 12px; font-weight: 600; fill: var(--verdict); }
.verdict { --verdict: var(--ink); fill: var(--verdict); }
line.verdict, circle.verdict { stroke: var(--verdict); }
.verdict.better { --verdict: var(--good); } .verdict.worse, .verdict.refused { --verdict: var(--bad); }
.verdict.inconclusive { --verdict: var(--warn); }
line.verdict { stroke-width: 2; }
.no-effect { fill: var(--band); } .mark.small { opacity: .55; }
.mark.warmup { fill: none; stroke: var(--arm); stroke-width: 1; }
.run { stroke: var(--arm); stroke-width: 2; } .run.warmup { stroke-dasharray: 2 2; }
.path { stroke: var(--arm); stroke-width: 1; opacity: .45; }
.mark.published { fill: var(--paper); stroke: var(--arm); stroke-width: 1.5; }
.range.published { fill: none; stroke: var(--warn); stroke-width: 1.2; stroke-dasharray: 5 3; }
.whisker.warmup { stroke-dasharray: 2 2; }
.median { stroke: var(--ink); stroke-width: 1.2; }
.whisker { stroke: var(--arm); stroke-width: 1.2; }
.bar { fill: var(--arm); stroke: var(--arm); } .bar.needed { fill: none; stroke-dasharray: 3 2; }
@media (min-width: 45rem) { .lossy { white-space: nowrap; } }
@media print {
  body { max-width: none; }
  :root { --arm-0: #0b4fb3; --arm-1: #a03f00; --arm-2: #5b2bb0; --arm-3: #065e5a; --arm-4: #982367; --arm-5: #5f4c00; }
  .charts { grid-template-columns: 1fr 1fr; gap: .5rem 1rem; }
  .chart, .chart.wide, .code { min-width: 0; } .why { min-width: 7.5rem; }
  .code { font-size: 7.5pt; } .progress, .said, figcaption { font-size: 9pt; } .said { break-after: avoid; break-inside: avoid; }
  h3 { break-after: avoid; }
}
"""
)
