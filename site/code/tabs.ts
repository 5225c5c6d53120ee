import { type Html, html } from '#shared/html.ts';

const TITLES = { curl: 'curl', client: 'TypeScript', graphql: 'GraphQL' } as const;
type Tab = { readonly name: keyof typeof TITLES; readonly content: Html };

export const isTab = (name: string | undefined): name is Tab['name'] =>
  name !== undefined && Object.hasOwn(TITLES, name);

/**
 * The same example in several languages. Without scripts the panels stand one below the other, each under its
 * name.
 */
export const tabs = (id: string, panels: readonly Tab[]): Html => html`<div class="tabs">
<div role="tablist" aria-label="Language of the example">${panels.map(
  ({ name }, index) =>
    html`<button type="button" role="tab" id="${id}-${name}-tab" aria-controls="${id}-${name}" aria-selected="${String(index === 0)}" data-tab="${name}">${TITLES[name]}</button>`,
)}</div>
${panels.map(
  ({ name, content }) => html`<div role="tabpanel" id="${id}-${name}" aria-labelledby="${id}-${name}-tab">
<p class="tab-name" aria-hidden="true">${TITLES[name]}</p>
${content}
</div>
`,
)}</div>
`;
