import * as z from 'zod';
import { name as nameField } from '#shared/commands/fields.ts';
import { mustConfirm } from '../accounts/confirmed.ts';
import { fieldsOf } from '../accounts/form.ts';
import type { NotifyDependencies } from '../mail/notify-of-change.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { LIFETIMES, type Lifetime, type TokensView, tokensPage } from '../pages/account/tokens-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { copyScript } from '../pages/page-script.ts';
import { inWords } from '../pages/scope-words.ts';
import { daysFromNow, tokenScopesOf } from '../personal-tokens/personal-tokens.ts';
import { notifyOfToken } from '../personal-tokens/routes.ts';
import { TOKENS_MAX } from '../storage/token-table.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = NotifyDependencies &
  Pick<OwnAccountDependencies, 'domain' | 'pool' | 'clock' | 'tokens' | 'ownTokens'>;

const ID_MAX = 50;
const SCOPE_MAX = 200;
const NAME_UNITS_MAX = 200;
const scope = z.string().max(SCOPE_MAX);
const lifetimes = Object.keys(LIFETIMES) as Lifetime[];
const Form = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('create'),
    name: z.string().max(NAME_UNITS_MAX),
    // A form sends one field per choice, and none without a choice.
    scopes: z.union([scope.transform((one) => [one]), z.array(scope)]).default([]),
    lifetime: z.enum(lifetimes),
  }),
  z.object({ do: z.literal('revoke'), id: z.string().max(ID_MAX) }),
]);
type Created = Extract<z.infer<typeof Form>, { do: 'create' }>;

/** Lets a person create and revoke personal access tokens. */
export const tokens = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.tokens,
  isSensitive: true,
  show: (visitor) => answer(dependencies, visitor),
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    if (form.do === 'create') return create(dependencies, visitor, form);
    const revoked = await dependencies.ownTokens.revoke(
      visitor.userId,
      [form.id],
      securityContextOf(visitor),
    );
    goTo(visitor, PATHS.tokens, revoked.length > 0 ? 'revoked' : undefined);
  },
});

const DONE = { revoked: 'The token was revoked: it no longer works.' };

const create = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { name: typed, scopes, lifetime }: Created,
): Promise<void> => {
  if (await mustConfirm(dependencies, visitor.userId)) return goTo(visitor, PATHS.confirmation);
  const name = typed.trim();
  const problems = problemsOf(visitor, name, scopes);
  const filled = { name, chosen: scopes, lifetime };
  if (Object.values(problems).some(Boolean))
    return answer(dependencies, visitor, { ...filled, problems, status: 422 });
  const wanted = {
    name,
    scopes: [...new Set(scopes)],
    expiresAt: daysFromNow(dependencies.clock, Number(lifetime)),
  };
  const made = await dependencies.ownTokens.make(visitor.userId, wanted, securityContextOf(visitor));
  if (made === undefined)
    return answer(dependencies, visitor, { ...filled, problems: { form: TOO_MANY }, status: 409 });
  notifyOfToken(dependencies, visitor, made.made);
  // Not by a redirect: only this answer contains the token.
  const { issuerUrl } = dependencies;
  return answer(dependencies, visitor, {
    made: { name, secret: made.secret, scriptUrl: copyScript.url(issuerUrl) },
  });
};

const TOO_MANY = `You have ${TOKENS_MAX} tokens, which is the maximum. Revoke one first.`;

const problemsOf = (
  { policy, role }: Visitor,
  name: string,
  scopes: readonly string[],
): TokensView['problems'] => {
  const offered = tokenScopesOf(policy, role);
  return {
    name: nameField.safeParse(name).success
      ? undefined
      : 'Give the token a name of at most 100 characters, on one line.',
    scopes:
      scopes.length > 0 && scopes.every((each) => offered.includes(each))
        ? undefined
        : 'Choose what the token allows.',
  };
};

type Filled = Partial<Pick<TokensView, 'name' | 'chosen' | 'lifetime' | 'problems' | 'made' | 'status'>>;

const answer = async (dependencies: Dependencies, visitor: Visitor, filled: Filled = {}): Promise<void> => {
  const { clock, domain, ownTokens } = dependencies;
  const [present, isUnconfirmed] = await Promise.all([
    ownTokens.of(visitor.userId),
    mustConfirm(dependencies, visitor.userId),
  ]);
  const shown = present.map((token) => ({
    ...token,
    scopes: inWords(domain, token.scopes),
    isOver: token.expiresAt.getTime() <= clock.nowMs(),
  }));
  const offered = inWords(domain, tokenScopesOf(visitor.policy, visitor.role));
  const form = { name: '', chosen: [], lifetime: '90' as const, problems: {}, ...filled };
  answerPage(
    visitor.response,
    tokensPage({ ...viewOf(dependencies, visitor, DONE), ...form, tokens: shown, offered, isUnconfirmed }),
  );
};
