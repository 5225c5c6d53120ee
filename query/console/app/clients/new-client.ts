import { useState } from 'preact/hooks';
import { useApi } from '../asking.ts';
import { useFormKeys } from '../form-key.ts';
import { html } from '../html.ts';
import { Heading, Problem } from '../parts.ts';
import { factsOf, type ProblemFacts } from '../problem.ts';
import type { Client } from './clients.ts';
import { Secret } from './secret.ts';
import { settingsOf } from './settings.ts';

const SCOPES = (document.body.dataset.scope ?? '').split(' ').filter((scope) => scope.includes(':'));
const KINDS = [
  ['service', 'A service', 'acts for itself, with a secret'],
  ['web', 'A web application', 'its server acts for its users, with a secret'],
  ['public', 'An application without a secret', 'in a browser, or on the devices of its users'],
] as const;

/** Creates a client of the three usual kinds; everything else is for `POST /clients`. */
export const NewClient = () => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const [kind, setKind] = useState<string>('service');
  const [made, setMade] = useState<Client>();
  const [problem, setProblem] = useState<ProblemFacts>();
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    setProblem(undefined);
    const wanted = settingsOf(kind, new FormData(event.currentTarget as HTMLFormElement));
    sendOnce(wanted, (key) => api.post<Client>('/clients', wanted, key)).then(
      ({ body }) => setMade(body),
      (error: unknown) => setProblem(factsOf(error)),
    );
  };
  return html`
    <p class="back"><a href="/console/clients">All clients</a></p>
    <${Heading} title="New client" />
    ${made === undefined ? html`<${Form} kind=${kind} setKind=${setKind} onSubmit=${onSubmit} problem=${problem} />` : html`<${Made} client=${made} />`}`;
};

const Made = ({ client: { clientId, name, secret } }: { readonly client: Client }) => html`
  <p role="status"><strong>${name}</strong> was registered as <a href=${`/console/clients/${clientId}`}><code>${clientId}</code></a>.</p>
  ${secret && html`<${Secret} secret=${secret} />`}`;

type FormOptions = {
  readonly kind: string;
  readonly setKind: (kind: string) => void;
  readonly onSubmit: (event: SubmitEvent) => void;
  readonly problem: ProblemFacts | undefined;
};

const Form = ({
  kind,
  setKind,
  onSubmit,
  problem,
}: FormOptions) => html`<form class="form" onSubmit=${onSubmit}>
  ${problem && html`<${Problem} problem=${problem} />`}
  <p><label for="client-name">Name</label><input id="client-name" name="name" required maxlength="100" autocomplete="off" /></p>
  <p><label for="client-id">Id <span class="soft">(generated if empty)</span></label><input id="client-id" name="clientId" pattern="[a-z0-9][a-z0-9\\-]{1,61}[a-z0-9]" spellcheck="false" autocapitalize="off" autocomplete="off" /></p>
  <fieldset><legend>Type</legend>
    ${KINDS.map(
      ([value, label, hint]) =>
        html`<label class="choice"><input type="radio" name="kind" value=${value} checked=${kind === value} onChange=${() => setKind(value)} /><span>${label}<small>${hint}</small></span></label>`,
    )}
  </fieldset>
  ${
    kind === 'service'
      ? html`<p><label for="client-role">Role of its account</label><select id="client-role" name="role"><option>reader</option><option>author</option><option>admin</option></select></p>`
      : html`<p><label for="client-redirects">Redirect URIs, one per line</label><textarea id="client-redirects" name="redirects" rows="3" required spellcheck="false"></textarea></p>`
  }
  <fieldset><legend>Scopes</legend><div class="choices">
    ${SCOPES.map((scope) => html`<label class="choice"><input type="checkbox" name="scope" value=${scope} defaultChecked=${scope.startsWith('read:')} /><code>${scope}</code></label>`)}
  </div></fieldset>
  <p><button class="primary">Register it</button></p>
</form>`;
