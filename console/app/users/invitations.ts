import { useState } from 'preact/hooks';
import { useApi, useAsked } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Act, Problem, Table, Whole } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { BriefTime } from '../base/time.ts';
import { kindNamed, useDomain } from '../data/domain.ts';

type Invitation = {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  /** The last day of an auditor. */
  readonly until?: string;
  readonly expiresAt: string;
};
type Made = { readonly email: string; readonly link: string | null };

export const useRoles = (): readonly string[] =>
  kindNamed(useDomain(), 'user')?.fields.find(({ name }) => name === 'role')?.values ?? [];

/** Whether the domain has auditors, whose access ends after a day. */
export const useHasAuditors = (): boolean =>
  kindNamed(useDomain(), 'user')?.fields.some(({ name }) => name === 'auditorUntil') === true;

/** The last day of an auditor. */
export const LastDay = ({
  change,
}: {
  readonly change?: (day: string) => void;
}) => html`<label>Last day, in UTC
  <input type="date" name="until" required onInput=${(event: Event) => change?.((event.currentTarget as HTMLInputElement).value)} />
</label>`;

/** Open invitations, and a form for a new one. */
export const Invitations = () => {
  const api = useApi();
  const sendOnce = useFormKeys();
  const asked = useAsked<readonly Invitation[]>('/account/invitations');
  const [made, setMade] = useState<Made>();
  const roles = useRoles();
  const [role, setRole] = useState(roles[0]);
  const isForAuditor = useHasAuditors() && role === 'auditor';
  const [problem, setProblem] = useState<ProblemFacts>();
  const invite = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setProblem(undefined);
    const wanted = Object.fromEntries(new FormData(form));
    sendOnce(wanted, (key) => api.post<Made>('/account/invitations', wanted, key)).then(
      ({ body }) => {
        setMade(body);
        form.reset();
        setRole(roles[0]);
        asked.reload();
      },
      (error: unknown) => setProblem(factsOf(error)),
    );
  };
  const revoke = async (id: string) => {
    await api.remove(`/account/invitations/${encodeURIComponent(id)}`);
    asked.reload();
  };
  return html`<section aria-labelledby="invitations">
    <h2 id="invitations" tabindex="-1">Invitations</h2>
    ${made && html`<${Invited} made=${made} />`}
    ${problem && html`<${Problem} problem=${problem} />`}
    <form class="filters" onSubmit=${invite}>
      <label>E-mail address <input type="email" name="email" required maxlength="254" autocomplete="off" /></label>
      <label>Role <select name="role" onInput=${(event: Event) => setRole((event.currentTarget as HTMLSelectElement).value)}>${roles.map((each) => html`<option>${each}</option>`)}</select></label>
      ${isForAuditor && html`<${LastDay} />`}
      <button class="primary">Invite</button>
    </form>
    <${Whole} asked=${asked} show=${(invitations: readonly Invitation[]) =>
      invitations.length === 0
        ? html`<p class="soft">No invitation is open.</p>`
        : html`<${Table}
            caption="Open invitations"
            items=${invitations}
            keyOf=${({ id }: Invitation) => id}
            columns=${[
              { label: 'E-mail address', cell: ({ email }: Invitation) => email },
              {
                label: 'Role',
                cell: ({ role: invited, until }: Invitation) =>
                  until ? `${invited}, until ${until}` : invited,
              },
              { label: 'Until', cell: ({ expiresAt }: Invitation) => html`<${BriefTime} at=${expiresAt} />` },
              {
                label: 'Action',
                cell: ({ id, email }: Invitation) =>
                  html`<${Act} act=${() => revoke(id)}>Revoke<span class="unseen"> the invitation of ${email}</span><//>`,
              },
            ]}
          />`} />
  </section>`;
};

const Invited = ({
  made: { email, link },
}: {
  readonly made: Made;
}) => html`<div class="finding good" role="status">
  <p><strong>${email} is invited.</strong> ${link === null ? 'The link is on its way by mail.' : 'This installation sends no mail: send this link to the person. It is shown only once.'}</p>
  ${link !== null && html`<p class="secret"><code>${link}</code></p>`}
</div>`;
