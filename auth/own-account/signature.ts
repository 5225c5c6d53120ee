import { createHash } from 'node:crypto';
import * as z from 'zod';
import { clientAddress } from '#edge/http/client-address.ts';
import type { SignatureProof } from '#kernel/base/signature.ts';
import type { FoundSignature } from '#shared/signatures/signatures.ts';
import { fieldsOf } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { messagePage } from '../pages/message-page.ts';
import { passkeyScript } from '../pages/page-script.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import { CODE_MAX } from '../pages/second-factor-page.ts';
import { authenticationOptions, CREDENTIAL_MAX, isOffered, relyingPartyOf } from '../passkeys/ceremony.ts';
import { signStatement } from '../signing-keys/sign-statement.ts';
import { confirmPassword, hasPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, viewOf } from './pages.ts';
import { type SignatureView, signaturePage, signedPage } from './signature-page.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  | 'tokens'
  | 'issuerUrl'
  | 'clock'
  | 'signatures'
  | 'signingKeys'
  | 'passkeys'
  | 'secondFactors'
  | 'codeLimits'
  | 'credentials'
  | 'limits'
  | 'devices'
  | 'emailHash'
  | 'readProfile'
  | 'record'
>;

const LINK_MAX = 100;
const link = z.string().max(LINK_MAX);
const Form = z.discriminatedUnion('do', [
  z.object({ do: z.literal('passkey'), link, credential: z.string().max(CREDENTIAL_MAX) }),
  z.object({
    ...{ do: z.literal('password'), link },
    password: z.string().max(PASSWORD_MAX),
    code: z.string().max(CODE_MAX),
  }),
]);
type Typed = Extract<z.infer<typeof Form>, { do: 'password' }>;

/**
 * Where a person signs a command that an application has sent. The proof is over the hash of what the page
 * shows, so a session alone signs nothing.
 */
export const signature = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.signature,
  hasLink: true,
  async show(visitor) {
    const { link } = visitor.request.query;
    const asked = await askedOf(dependencies, visitor, typeof link === 'string' ? link : '');
    await answer(dependencies, visitor, { asked, problems: {} });
  },
  async submit(visitor) {
    const form = fieldsOf(Form, visitor.request);
    const asked = await askedOf(dependencies, visitor, form.link);
    const proof =
      form.do === 'passkey'
        ? await byPasskey(dependencies, visitor, { asked, credential: form.credential })
        : await byPassword(dependencies, visitor, { asked, typed: form });
    if ('problems' in proof) return answer(dependencies, visitor, { asked, ...proof });
    if (!(await dependencies.signatures.give(form.link, proof))) throw new PageRefusal(OVER);
    answerPage(visitor.response, signedPage(viewOf(dependencies, visitor)));
  },
});

type Asked = FoundSignature['asked'] & { readonly link: string };
type Refused = { readonly problems: SignatureView['problems']; readonly status: number };

/** Only what waits for the signature of this person. */
const askedOf = async ({ signatures }: Dependencies, visitor: Visitor, link: string): Promise<Asked> => {
  const found = await signatures.find(link);
  if (found === undefined || found.given !== undefined) throw new PageRefusal(OVER);
  if (found.asked.userId !== visitor.userId) throw new PageRefusal(OF_ANOTHER);
  return { ...found.asked, link };
};

const OVER = messagePage({
  status: 410,
  title: 'There is nothing to sign',
  text: 'It was signed before, or took too long. Send it again in the application.',
});

const OF_ANOTHER = messagePage({
  status: 403,
  title: 'This is for somebody else to sign',
  text: 'You are signed in as another person than the one in the application. Sign out here, and open the link again.',
});

/** The challenge of the passkey. */
const hashOf = (statement: string): string => createHash('sha256').update(statement).digest('base64url');

type WithCredential = { readonly asked: Asked; readonly credential: string };

const byPasskey = async (
  { passkeys }: Dependencies,
  visitor: Visitor,
  { asked, credential }: WithCredential,
): Promise<SignatureProof | Refused> => {
  const signed = { credential, challenge: hashOf(asked.statement) };
  const proof = await passkeys.proofOf(visitor.userId, signed, securityContextOf(visitor));
  return proof ?? { problems: { form: WRONG_PASSKEY }, status: 422 };
};

const WRONG_PASSKEY = 'This was not one of your passkeys, or not for what this page shows. Try again.';

type WithTyped = { readonly asked: Asked; readonly typed: Typed };

const byPassword = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { asked, typed }: WithTyped,
): Promise<SignatureProof | Refused> => {
  if (!(await hasCodes(dependencies, visitor))) return { problems: { form: NO_CODES }, status: 422 };
  const unconfirmed = await confirmPassword(dependencies, visitor, typed.password);
  if (unconfirmed !== undefined)
    return { problems: { password: unconfirmed.text }, status: unconfirmed.status };
  const wrong = await wrongCode(dependencies, visitor, typed.code.trim());
  if (wrong !== undefined) return wrong;
  return signStatement(dependencies, { userId: visitor.userId, hash: hashOf(asked.statement) });
};

const NO_CODES = 'You have no password with codes from an app: sign with a passkey, or set up codes first.';

const hasCodes = async (dependencies: Dependencies, { userId }: Visitor): Promise<boolean> =>
  (await hasPassword(dependencies, userId)) && (await dependencies.secondFactors.of(userId)) !== undefined;

/** Counts together with the codes of sign-ins. */
const wrongCode = async (
  { codeLimits, secondFactors, devices }: Dependencies,
  visitor: Visitor,
  code: string,
): Promise<Refused | undefined> => {
  const { userId, request, response } = visitor;
  if (code === '') return { problems: { code: 'Enter a code.' }, status: 422 };
  const tried = {
    account: `user ${userId}`,
    address: clientAddress(request),
    device: devices.of(request, userId),
  };
  const admitted = await codeLimits.admit(tried);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    const form = `Too many attempts. Try again in ${waitText(admitted.waitMs)}.`;
    return { problems: { form }, status: 429 };
  }
  if (!(await secondFactors.use(userId, { kind: 'app', code }, securityContextOf(visitor))))
    return { problems: { code: WRONG_CODE }, status: 422 };
  await codeLimits.succeeded(tried);
  return undefined;
};

const WRONG_CODE = 'This code is wrong, expired or already used. Wait for the next one.';

type Filled = Pick<SignatureView, 'problems' | 'status'> & { readonly asked: Asked };

const answer = async (
  dependencies: Dependencies,
  visitor: Visitor,
  { asked, ...filled }: Filled,
): Promise<void> => {
  const { passkeys, issuerUrl } = dependencies;
  const { link, statement, says, meaning, item, form: values } = asked;
  const { version, until } = JSON.parse(statement) as { version: number | null; until: string };
  const hasPasskey = isOffered(issuerUrl) && (await passkeys.of(visitor.userId)).length > 0;
  const passkey = hasPasskey
    ? {
        ...{ action: PATHS.signature, ticket: '', scriptUrl: passkeyScript.url(issuerUrl) },
        options: authenticationOptions(relyingPartyOf(issuerUrl), hashOf(statement)),
      }
    : undefined;
  answerPage(
    visitor.response,
    signaturePage({
      ...viewOf(dependencies, visitor),
      ...{ link, says, meaning, item, version, values, until: new Date(until), passkey },
      hasCodes: await hasCodes(dependencies, visitor),
      ...filled,
    }),
  );
};
