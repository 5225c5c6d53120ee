import { createHash } from 'node:crypto';

/**
 * The only style of every page. Text has a contrast of 4.5 or more in both schemes, the borders of fields 3
 * or more.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f1ec; --card: #fff; --ink: #1d1b18; --soft: #5b564e; --line: #dcd7cd; --edge: #857e72;
  --accent: #1f5a4d; --accent-ink: #fff; --bad: #a3261b; --bad-ground: #fdf0ee;
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #171614; --card: #211f1c; --ink: #ece8e1; --soft: #b3ada2; --line: #3a3732; --edge: #8d867a;
    --accent: #8fd0bd; --accent-ink: #10231e; --bad: #ffb4a8; --bad-ground: #3a1f1b;
  }
}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; grid-template-rows: auto 1fr auto; justify-items: center;
  background: var(--ground); color: var(--ink); overflow-wrap: anywhere; }
header, footer { width: 100%; max-width: 27rem; padding: 1.5rem calc(1.75rem + 1px) 1rem; }
header { font: 600 1.25rem/1.2 Georgia, "DejaVu Serif", serif; letter-spacing: .01em; }
footer { color: var(--soft); font-size: .875rem; }
main { width: 100%; max-width: 27rem; align-self: start; background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 1.25rem 0 .5rem; font-size: 1.0625rem; }
p { margin: 0 0 1rem; }
main > :last-child, form > :last-child { margin-bottom: 0; }
form + p { margin-top: 1.25rem; }
h1 + form { margin-top: 1rem; }
.lead, .hint { color: var(--soft); }
.hint { margin: 0 0 .375rem; font-size: .9375rem; }
a { color: var(--accent); text-underline-offset: .15em; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
.field { margin-bottom: 1.125rem; }
.field.bad { border-left: .25rem solid var(--bad); padding-left: .75rem; }
.wrong { margin: 0 0 .375rem; color: var(--bad); font-weight: 600; font-size: .9375rem; }
input { width: 100%; min-height: 2.875rem; padding: .5rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--edge); border-radius: .5rem; }
.bad input { border: 2px solid var(--bad); }
input.code { font: 600 1.5rem/1.2 ui-monospace, "DejaVu Sans Mono", monospace; letter-spacing: .12em; text-transform: uppercase; text-align: center; }
.code-shown { font: 600 1.75rem/1.3 ui-monospace, "DejaVu Sans Mono", monospace; letter-spacing: .12em; text-align: center; margin: 0 0 1rem;
  padding: .75rem; border: 1px dashed var(--edge); border-radius: .5rem; }
.actions { display: grid; gap: .75rem; margin: 1.5rem 0 1rem; }
button { min-height: 2.875rem; width: 100%; padding: .5rem 1rem; font: inherit; font-weight: 600; border-radius: .5rem; cursor: pointer;
  border: 1px solid var(--edge); background: transparent; color: inherit; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
.button { display: block; min-height: 2.875rem; padding: .625rem 1rem; font-weight: 600; text-align: center; text-decoration: none; border-radius: .5rem;
  border: 1px solid var(--edge); color: inherit; }
:is(button, .button):hover { text-decoration: underline; text-underline-offset: .2em; }
:is(a, button, input, [tabindex]):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.summary { margin: 0 0 1.25rem; padding: .875rem 1rem; border: 2px solid var(--bad); border-radius: .5rem; background: var(--bad-ground); }
.summary h2 { margin: 0 0 .25rem; font-size: 1rem; color: var(--bad); }
.summary ul { margin: 0; padding: 0; list-style: none; }
.summary li + li { margin-top: .375rem; }
.summary a { color: var(--bad); }
.offers { margin: 1.25rem 0; padding: 0; list-style: none; display: grid; gap: .75rem; }
.scopes { margin: 0 0 1rem; padding: 0; list-style: none; border-top: 1px solid var(--line); }
.scopes li { padding: .625rem 0; border-bottom: 1px solid var(--line); }
.scopes small { display: block; color: var(--soft); font-size: .875rem; }
body:has(> nav) { grid-template-rows: auto auto 1fr auto; }
.wide > :is(header, footer, main, nav) { max-width: 44rem; }
.wide > header { padding-bottom: .5rem; }
nav { width: 100%; padding: 0 1.75rem 1rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .375rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--ink); border-color: var(--edge); }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
main:focus { outline: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: var(--card); }
.done { margin: 0 0 1.25rem; padding: .75rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; }
.items { margin: 0 0 1rem; padding: 0; list-style: none; border-top: 1px solid var(--line); }
.items > li { padding: 1rem 0; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem 1.5rem;
  align-items: start; justify-content: space-between; }
.items > li > div { flex: 1 1 18rem; }
.items :is(h2, h3, p, form) { margin: 0; font-size: 1.0625rem; }
.done > :last-child { margin-bottom: 0; }
.items p + p { margin-top: .125rem; }
.items small, .items p.small, .small { color: var(--soft); font-size: .9375rem; }
.items button, button.small { width: auto; min-height: 2.75rem; }
.items .scopes { margin: .375rem 0 0; padding-left: 1.125rem; border: 0; list-style: disc; }
.items .scopes li { padding: 0; border: 0; color: var(--soft); font-size: .9375rem; }
dl { margin: 0 0 1rem; }
dt { color: var(--soft); font-size: .9375rem; }
dd { margin: 0 0 .75rem; }
.wide form:not(.items form) { max-width: 27rem; }
.tick { display: flex; gap: .625rem; align-items: start; margin: 0 0 .75rem; }
.tick input { flex: none; width: 1.375rem; min-height: 1.375rem; margin: .125rem 0 0; accent-color: var(--accent); }
.tick label { font-weight: 400; margin: 0; }
fieldset { border: 0; padding: 0; margin: 0; }
label small { color: var(--soft); font-size: .9375rem; overflow-wrap: anywhere; }
legend { padding: 0; font-weight: 600; margin-bottom: .375rem; }
button.danger { border-color: var(--bad); color: var(--bad); }
.link-shown { font: .9375rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; padding: .75rem; border: 1px dashed var(--edge);
  border-radius: .5rem; user-select: all; }
details { margin: 1.25rem 0 0; }
summary { cursor: pointer; color: var(--accent); text-decoration: underline; text-underline-offset: .15em; padding: .375rem 0; }
summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
details[open] > summary { margin-bottom: .75rem; }
.passkey { margin: 1rem 0; }
.passkey:not([data-passkey="create"]) { margin: 1.25rem 0; padding: 1.25rem 0; border: solid var(--line); border-width: 1px 0; }
.passkey .wrong:empty { display: none; }
[hidden] { display: none; }
.items details { margin-top: .5rem; }
.items details form { display: flex; flex-wrap: wrap; gap: .5rem; }
.items details input { flex: 1 1 12rem; }
.steps { margin: 0 0 1rem; padding-left: 1.375rem; }
.steps > li { margin-bottom: 1.25rem; }
.steps form { margin-top: .75rem; }
.qr { display: block; width: 13rem; max-width: 100%; height: auto; margin: .75rem 0; border: 1px solid var(--line); border-radius: .5rem; }
.codes { margin: 0 0 1.25rem; padding: 1rem; list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: .375rem 1.5rem;
  border: 1px dashed var(--edge); border-radius: .5rem; font: 1rem/1.6 ui-monospace, "DejaVu Sans Mono", monospace; white-space: nowrap; }
caption { text-align: left; color: var(--soft); font-size: .9375rem; }
table { width: 100%; border-collapse: collapse; margin: 0 0 1rem; }
th, td { padding: .5rem .5rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: .9375rem; }
@media print { nav, .actions, .skip { display: none; } }
@media (max-width: 30rem) {
  body { background: var(--card); }
  header, footer, nav { padding-inline: 1.25rem; }
  main { border-width: 1px 0; border-radius: 0; padding: 1.5rem 1.25rem; }
}
`;

/** The hash by which the policy allows this style only. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
