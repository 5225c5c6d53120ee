import * as z from 'zod';
import { name as nameField } from '#shared/commands/fields.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { type PasskeysView, passkeysPage } from '../pages/account/passkeys-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { passkeyScript } from '../pages/page-script.ts';
import { CREDENTIAL_MAX, isOffered } from '../passkeys/ceremony.ts';
import { PASSKEYS_MAX } from '../passkeys/passkey-table.ts';
import { newChallenge } from '../passkeys/passkeys.ts';
import { browserOf } from '../storage/browser-words.ts';
import { TICKET_MAX } from '../storage/tickets.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, boundTo, goTo, viewOf } from './pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = NotifyDependencies &
  Pick<OwnAccountDependencies, 'pool' | 'tokens' | 'tickets' | 'passkeys' | 'upstreamNames'>;

const ID_MAX = 50;
const NAME_UNITS_MAX = 200;
const id = z.string().max(ID_MAX);
const name = z.string().max(NAME_UNITS_MAX);
const Form = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('add'),
    ticket: z.string().max(TICKET_MAX),
    credential: z.string().max(CREDENTIAL_MAX),
    name,
  }),
  z.object({ do: z.literal('rename'), id, name }),
  z.object({ do: z.literal('remove'), id }),
]);
type Added = Extract<z.infer<typeof Form>, { do: 'add' }>;
type Renamed = Extract<z.infer<typeof Form>, { do: 'rename' }>;
type Filled = Pick<PasskeysView, 'renamed' | 'problems' | 'status'> & { readonly name?: string };

export const passkeys = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.passkeys,
  isSensitive: true,
  show: (visitor) => answer(dependencies, visitor, { problems: {} }),
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    if (form.do === 'add' && (await mustConfirm(dependencies, visitor.userId)))
      return goTo(visitor, PATHS.confirmation);
    if (form.do === 'remove') return remove(dependencies, visitor, form.id);
    if (!nameField.safeParse(form.name.trim()).success)
      return answer(dependencies, visitor, { ...namelessIn(form), status: 422 });
    if (form.do === 'add') return add(dependencies, visitor, form);
    const isRenamed = await dependencies.passkeys.rename(visitor.userId, form.id, form.name.trim());
    goTo(visitor, PATHS.passkeys, isRenamed ? 'renamed' : undefined);
  },
});

const DONE = {
  added: 'The passkey was added. You can sign in with it from now on.',
  renamed: 'The name is saved.',
  removed:
    'The passkey was removed: nobody can sign in with it any more. Your device may still offer it; remove it there, too.',
};
const NAMELESS = 'Give the passkey a name of at most 100 characters, on one line.';

const namelessIn = (form: Added | Renamed): Filled =>
  form.do === 'add'
    ? { name: form.name, problems: { name: NAMELESS } }
    : { renamed: { id: form.id, name: form.name }, problems: { rename: NAMELESS } };

const NOT_TAKEN = `This passkey could not be added: it took too long, was created for another request, or you already have ${PASSKEYS_MAX}. Try again.`;

const add = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { ticket, credential, name }: Added,
): Promise<void> => {
  const content = await dependencies.tickets.use('new passkey', boundTo(visitor), ticket);
  const made = { name: name.trim(), credential, challenge: content?.challenge ?? '' };
  const isAdded =
    content !== undefined &&
    (await dependencies.passkeys.add(visitor.userId, made, securityContextOf(visitor)));
  if (!isAdded) return answer(dependencies, visitor, { name, problems: { form: NOT_TAKEN }, status: 422 });
  notifyOfChange(
    dependencies,
    visitor,
    'A passkey was added to your account: it signs in without your password.',
  );
  goTo(visitor, PATHS.passkeys, 'added');
};

const remove = async (dependencies: Dependencies, visitor: Visitor, id: string): Promise<void> => {
  const { passkeys, upstreamNames: upstreams } = dependencies;
  const outcome = await passkeys.remove(visitor.userId, { id, upstreams }, securityContextOf(visitor));
  if (outcome === 'last')
    return answer(dependencies, visitor, { problems: { form: lastOf(upstreams) }, status: 409 });
  if (outcome === 'removed')
    notifyOfChange(dependencies, visitor, 'A passkey was removed from your account.');
  goTo(visitor, PATHS.passkeys, outcome === 'removed' ? 'removed' : undefined);
};

const lastOf = (upstreams: readonly string[]): string =>
  `This passkey is your only way to sign in. ${
    upstreams.length === 0
      ? 'Choose a password or add another passkey first.'
      : 'Choose a password, link an account or add another passkey first.'
  }`;

const answer = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { name: typed, ...filled }: Filled,
): Promise<void> => {
  const view = { ...viewOf(dependencies, visitor, DONE), ...filled };
  const { userId, request } = visitor;
  const name = typed ?? browserOf(request.headers['user-agent'] ?? '');
  const [isUnconfirmed, present] = await Promise.all([
    mustConfirm(dependencies, userId),
    dependencies.passkeys.of(userId),
  ]);
  const form = isUnconfirmed ? undefined : await formFor(dependencies, visitor);
  answerPage(visitor.response, passkeysPage({ ...view, passkeys: present, form, isUnconfirmed, name }));
};

const formFor = async (
  { tickets, passkeys, issuerUrl }: Dependencies,
  visitor: Visitor,
): Promise<PasskeysView['form']> => {
  if (!isOffered(issuerUrl)) return undefined;
  const challenge = newChallenge();
  return {
    action: PATHS.passkeys,
    ticket: tickets.issue('new passkey', boundTo(visitor), { challenge }),
    options: await passkeys.optionsFor(visitor.userId, challenge),
    scriptUrl: passkeyScript.url(issuerUrl),
  };
};
