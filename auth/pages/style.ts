import { createHash } from 'node:crypto';

/** The only style of every page. Text has a contrast of 4.5 or more in both schemes, the borders of fields 3 or more. */
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
button:hover { text-decoration: underline; text-underline-offset: .2em; }
:is(a, button, input, [tabindex]):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.summary { margin: 0 0 1.25rem; padding: .875rem 1rem; border: 2px solid var(--bad); border-radius: .5rem; background: var(--bad-ground); }
.summary h2 { margin: 0 0 .25rem; font-size: 1rem; color: var(--bad); }
.summary ul { margin: 0; padding: 0; list-style: none; }
.summary li + li { margin-top: .375rem; }
.summary a { color: var(--bad); }
.scopes { margin: 0 0 1rem; padding: 0; list-style: none; border-top: 1px solid var(--line); }
.scopes li { padding: .625rem 0; border-bottom: 1px solid var(--line); }
.scopes small { display: block; color: var(--soft); font-size: .875rem; }
@media (max-width: 30rem) {
  body { background: var(--card); }
  header, footer { padding-inline: 1.25rem; }
  main { border-width: 1px 0; border-radius: 0; padding: 1.5rem 1.25rem; }
}
`;

/** What the policy allows instead of styles in general. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
