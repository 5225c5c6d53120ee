import { useState } from 'preact/hooks';
import { useApi } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Heading, Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { type Draft, useDraft } from '../data/drafts.ts';
import { Restored } from '../data/restored.ts';
import { useRoles } from '../users/invitations.ts';
import type { Client } from './clients.ts';
import { Secret } from './secret.ts';
import { type ClientForm, settingsOf } from './settings.ts';

const SCOPES = (document.body.dataset.scope ?? '').split(' ').filter((scope) => scope.includes(':'));
const KINDS = [
  ['service', 'A service', 'acts for itself, with a secret'],
  ['web', 'A web application', 'its server acts for its users, with a secret'],
  ['agent', 'An agent', 'acts for users of other applications, with a secret'],
  ['public', 'An application without a secret', 'in a browser, or on the devices of its users'],
] as const;
const LIST = '/console/clients';

const initialFor = (roles: readonly string[]): ClientForm => ({
  kind: 'service',
  name: '',
  clientId: '',
  role: roles[0] ?? '',
  redirects: '',
  scopes: SCOPES.filter((scope) => scope.startsWith('read:')),
});

/** Creates a client of the usual kinds; everything else is for `POST /clients`. */
export const NewClient = () => {
  const [made, setMade] = useState<Client>();
  return html`
    <p class="back"><a href=${LIST}>All clients</a></p>
    <${Heading} title="New client" />
    ${made === undefined ? html`<${Form} done=${setMade} />` : html`<${Made} client=${made} />`}`;
};

const Made = ({ client: { clientId, name, secret } }: { readonly client: Client }) => html`
  <p role="status"><strong>${name}</strong> was registered as <a href=${`${LIST}/${clientId}`}><code>${clientId}</code></a>.</p>
  ${secret && html`<${Secret} secret=${secret} />`}`;

const Form = ({ done }: { readonly done: (client: Client) => void }) => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const roles = useRoles();
  const draft = useDraft<ClientForm>({
    initial: () => initialFor(roles),
    isChanged: (typed) => JSON.stringify(typed) !== JSON.stringify(initialFor(roles)),
  });
  const [problem, setProblem] = useState<ProblemFacts>();
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    setProblem(undefined);
    const { role } = draft.content;
    // A draft may have a role that the domain has no more.
    const wanted = settingsOf({ ...draft.content, role: roles.includes(role) ? role : (roles[0] ?? '') });
    sendOnce(wanted, (key) => api.post<Client>('/clients', wanted, key)).then(
      ({ body }) => {
        draft.end();
        done(body);
      },
      (error: unknown) => setProblem(factsOf(error)),
    );
  };
  return html`<form class="form" onSubmit=${onSubmit}>
    <${Restored} draft=${draft} />
    ${problem && html`<${Problem} problem=${problem} />`}
    <${Fields} draft=${draft} roles=${roles} />
    <div class="tools"><button class="primary">Register it</button><a class="button" href=${LIST} onClick=${draft.end}>Cancel</a></div>
  </form>`;
};

type FieldsOptions = { readonly draft: Draft<ClientForm>; readonly roles: readonly string[] };

const Fields = ({ draft: { content, set }, roles }: FieldsOptions) => {
  const { kind, name, clientId, role, redirects, scopes } = content;
  const text = (member: keyof ClientForm) => (event: Event) =>
    set({ ...content, [member]: (event.currentTarget as HTMLInputElement).value });
  const choose = (scope: string) => (event: Event) => {
    const isChosen = (event.currentTarget as HTMLInputElement).checked;
    set({ ...content, scopes: SCOPES.filter((each) => (each === scope ? isChosen : scopes.includes(each))) });
  };
  return html`<p><label for="client-name">Name</label><input id="client-name" name="name" value=${name} onInput=${text('name')} required maxlength="100" autocomplete="off" /></p>
  <p><label for="client-id">Id <span class="soft">(generated if empty)</span></label><input id="client-id" name="clientId" value=${clientId} onInput=${text('clientId')} pattern="[a-z0-9][a-z0-9\\-]{1,61}[a-z0-9]" spellcheck="false" autocapitalize="off" autocomplete="off" /></p>
  <fieldset><legend>Type</legend>
    ${KINDS.map(
      ([value, label, hint]) =>
        html`<label class="choice"><input type="radio" name="kind" value=${value} checked=${kind === value} onChange=${text('kind')} /><span>${label}<small>${hint}</small></span></label>`,
    )}
  </fieldset>
  ${
    kind === 'agent'
      ? null
      : kind === 'service'
        ? html`<p><label for="client-role">Role of its account</label><select id="client-role" name="role" onChange=${text('role')}>${roles.map((each) => html`<option value=${each} selected=${role === each}>${each}</option>`)}</select></p>`
        : html`<p><label for="client-redirects">Redirect URIs, one per line</label><textarea id="client-redirects" name="redirects" rows="3" value=${redirects} onInput=${text('redirects')} required spellcheck="false"></textarea></p>`
  }
  <fieldset><legend>Scopes</legend><div class="choices">
    ${SCOPES.map((scope) => html`<label class="choice"><input type="checkbox" name="scope" value=${scope} checked=${scopes.includes(scope)} onChange=${choose(scope)} /><code>${scope}</code></label>`)}
  </div></fieldset>`;
};
