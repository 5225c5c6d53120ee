import { useEffect } from 'preact/hooks';
import { type Action, lettersOf, useActions } from './base/actions.ts';
import { useAsked } from './base/asking.ts';
import { html } from './base/html.ts';
import { Badge } from './base/parts.ts';
import { type Me, pageOf, useDomain } from './data/domain.ts';
import { pageOfView, viewsFor } from './data/view.ts';

type Section = readonly [name: string, label: string, href: string];
const DATA: Section = ['data', 'Data', '/console/data'];
const SECTIONS: readonly Section[] = [
  ['overview', 'Overview', '/console'],
  ['events', 'Events', '/console/events'],
  ['webhooks', 'Webhooks', '/console/webhooks'],
  ['parked', 'Parked', '/console/parked'],
  ['proof', 'Proof', '/console/proof'],
  ['operator-commands', 'Operator commands', '/console/orders'],
  ['users', 'Accounts', '/console/users'],
  ['clients', 'Clients', '/console/clients'],
];
const OF_DEVELOPMENT: readonly Section[] = [
  ['new-aggregate', 'New aggregate', '/console/declaration/new'],
  ['add-field', 'Add a field', '/console/declaration/field'],
];

type SectionsOptions = { readonly section: string | undefined; readonly me: Me };

/** The navigation: data for everybody, the installation for administrators. */
export const Sections = ({ section, me }: SectionsOptions) => {
  const { kinds, views, hasWebhooks, isDeveloped } = useDomain();
  const isAdmin = me.role === 'admin';
  const data: readonly Section[] = [
    ...kinds
      .filter(({ list }) => list.path !== undefined)
      .map((kind) => [`data/${kind.path}`, kind.plural, pageOf(kind)] as const),
    ...viewsFor(views, me).map((view) => [`data/${view.path}`, view.title, pageOfView(view)] as const),
  ];
  const installation = isAdmin ? SECTIONS.filter(([name]) => hasWebhooks || name !== 'webhooks') : [];
  const declaration = isAdmin && isDeveloped ? OF_DEVELOPMENT : [];
  const all = [DATA, ...installation, ...data, ...declaration];
  const letters = lettersOf(all.map(([, label]) => label));
  const actions: readonly Action[] = all.map(([, label, to], index) => ({
    says: label,
    keys: letters[index] && `g ${letters[index]}`,
    to,
  }));
  useActions(actions);
  const requests = kinds.find(({ confirms }) => confirms !== undefined);
  const link = ([name, label, href]: Section) =>
    html`<li><a href=${href} aria-current=${name === section ? 'page' : null}>${label}${requests && name === `data/${requests.path}` && html` <${Waiting} path=${requests.path} />`}</a></li>`;
  useEffect(() => {
    // On a phone, the sections are one row.
    document
      .querySelector('#console > nav [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [section]);
  return html`<nav aria-label="Sections">
    <p><a href=${DATA[2]}>${DATA[1]}</a></p>
    <ul>${data.map(link)}</ul>
    ${!isAdmin && html`<${OwnSections} section=${section} />`}
    ${isAdmin && html`<p>Installation</p><ul>${installation.map(link)}</ul>`}
    ${declaration.length > 0 && html`<p>Declaration</p><ul>${declaration.map(link)}</ul>`}
  </nav>`;
};

const COUNTED_EVERY_MS = 30_000;
const COUNTED_MAX = 20;

/** How many requests of agents wait for a person. */
const Waiting = ({ path }: { readonly path: string }) => {
  const { body: open = [] } = useAsked<readonly unknown[]>(
    `/${path}?status=open&limit=${COUNTED_MAX}`,
    COUNTED_EVERY_MS,
  );
  if (open.length === 0) return null;
  return html`<${Badge} tone="warn">${open.length < COUNTED_MAX ? open.length : `${COUNTED_MAX} or more`}<span class="unseen"> waiting</span><//>`;
};

const ACCOUNT = new URL('/account', document.body.dataset.issuer ?? location.origin).href;

/** The sections of the user’s own things, in every role. */
export const OwnSections = ({ section }: { readonly section: string | undefined }) => html`
  <p><a href=${ACCOUNT}>Your account</a></p>
  ${useDomain().hasWebhooks && html`<ul><li><a href="/account/webhooks" aria-current=${section === 'webhooks' ? 'page' : null}>Webhooks</a></li></ul>`}`;
