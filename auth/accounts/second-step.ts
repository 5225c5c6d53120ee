import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Persons } from '../directory.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import { answerPage } from '../pages/answer-page.ts';
import { messagePage } from '../pages/message-page.ts';
import { CODE_MAX, type SecondFactorView, secondFactorPage } from '../pages/second-factor-page.ts';
import type { Person } from '../persons/person-table.ts';
import type { SecondFactors, Typed } from '../second-factor/second-factors.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { TICKET_MAX, type Tickets } from '../storage/tickets.ts';
import type { Attempts } from './attempts.ts';
import type { Credentials } from './credentials.ts';
import { fieldsOf, readForm } from './form.ts';
import { type Asked, askedOf, CANCELLED, clientNameOf, finish, formTargetsFor } from './interaction.ts';
import { PageRefusal } from './page-refusal.ts';
import { mayNotify, type SignInLimits, waitSeconds, waitText } from './sign-in-limits.ts';
import { finishSignIn, recordLock, type SignInFinish } from './sign-in-outcome.ts';

export type SecondStepDependencies = SignInFinish &
  NotifyDependencies & {
    readonly persons: Pick<Persons, 'byId'>;
    readonly credentials: Pick<Credentials, 'changedAt'>;
    readonly secondFactors: Pick<SecondFactors, 'of' | 'use'>;
    readonly tickets: Tickets;
    readonly codeLimits: SignInLimits;
    readonly recoveryLimits: SignInLimits;
    readonly attempts: Attempts;
    readonly record: RecordSecurityEvent;
  };

type Exchange = { readonly request: Request; readonly response: Response; readonly asked: Asked };

/** How the first step was done: by the password just now, or at an identity provider at that time. */
type FirstStep = { readonly by: 'pwd' } | { readonly by: 'fed'; readonly atS: number };

/** Continues after a correct password: signs in, or asks for a code. */
export const afterPassword = (
  dependencies: SecondStepDependencies,
  exchange: Exchange,
  person: Person,
): Promise<void> => afterFirstStep(dependencies, exchange, { person, step: { by: 'pwd' } });

export const afterFirstStep = async (
  dependencies: SecondStepDependencies,
  exchange: Exchange,
  { person, step }: { readonly person: Person; readonly step: FirstStep },
): Promise<void> => {
  const { secondFactors, credentials, tickets } = dependencies;
  const { userId } = person;
  const atS = step.by === 'fed' ? step.atS : undefined;
  if ((await secondFactors.of(userId)) === undefined)
    return finishSignIn(dependencies, exchange, { person, amr: [step.by], atS });
  const passwordOf = versionOf(await credentials.changedAt(userId));
  const ticket = tickets.issue('second step', [exchange.asked.interaction.uid], {
    userId: String(userId),
    passwordOf,
    ...(atS !== undefined && { atS: String(atS) }),
  });
  show(dependencies, exchange, { ticket, problems: {}, isAfterPassword: step.by === 'pwd' });
};

const Code = z.object({
  ticket: z.string().max(TICKET_MAX),
  code: z.string().max(CODE_MAX).optional(),
  recovery: z.string().max(CODE_MAX).optional(),
  cancel: z.literal('yes').optional(),
});

/** The second step. It needs a ticket, which only the first step issues. */
export const secondStepRoutes = (dependencies: SecondStepDependencies): Router =>
  Router()
    .get('/sign-in/:uid/second-factor', ({ params: { uid } }, response) =>
      response.redirect(303, `/sign-in/${uid}`),
    )
    .post('/sign-in/:uid/second-factor', ...readForm, (request, response) =>
      submit(dependencies, request, response),
    )
    .all('/sign-in/:uid/second-factor', refuseOtherMethods('GET', 'HEAD', 'POST'));

const submit = async (
  dependencies: SecondStepDependencies,
  request: Request,
  response: Response,
): Promise<void> => {
  const { secondFactors, codeLimits, recoveryLimits, record } = dependencies;
  const form = fieldsOf(Code, request);
  const asked = await askedOf(dependencies, 'login', request, response);
  if (form.cancel) return finish(dependencies, { request, response, result: CANCELLED });
  const { person, step } = await holderOf(dependencies, asked, form.ticket);
  const field = form.recovery === undefined ? 'code' : 'recovery';
  const again = (problems: SecondFactorView['problems'], status: number) =>
    show(
      dependencies,
      { request, response, asked },
      { ticket: form.ticket, problems, status, isAfterPassword: step.by === 'pwd' },
    );
  const typed: Typed = { kind: field === 'code' ? 'app' : 'recovery', code: form[field]?.trim() ?? '' };
  if (typed.code === '') return again({ [field]: 'Enter a code.' }, 422);

  const device = dependencies.devices.of(request, person.userId);
  const tried = { account: `user ${person.userId}`, address: clientAddress(request), device };
  const limits = field === 'code' ? codeLimits : recoveryLimits;
  const admitted = await limits.admit(tried);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    return again({ form: `Too many attempts. Try again in ${waitText(admitted.waitMs)}.` }, 429);
  }
  const client = asked.client?.clientId ?? null;
  if (
    await secondFactors.use(person.userId, typed, {
      actor: `user:${person.userId}`,
      client,
      requestId: requestIdOf(request),
    })
  ) {
    await limits.succeeded(tried);
    if (typed.kind === 'recovery') await tellOfRecovery(dependencies, person);
    const atS = step.by === 'fed' ? step.atS : undefined;
    return finishSignIn(dependencies, { request, response }, { person, amr: [step.by, 'otp', 'mfa'], atS });
  }
  if (admitted.locksIfWrong) {
    if (step.by === 'pwd') await notifyOfTries(dependencies, person, tried.account);
    await recordLock(record, { request, asked, person, attempts: admitted.attempts });
  }
  again({ [field]: WRONG[field] }, 422);
};

const WRONG = {
  code: 'This code is wrong, expired or already used. Wait for the next one.',
  recovery: 'This is not one of your recovery codes, or it was already used.',
} as const;

const tellOfRecovery = async (dependencies: SecondStepDependencies, person: Person): Promise<void> => {
  const left = (await dependencies.secondFactors.of(person.userId))?.codesLeft ?? 0;
  notifyOfChange(
    dependencies,
    person,
    `Somebody signed in to your account with a recovery code. You have ${left} left.`,
    'A recovery code was used',
  );
};

/** The password was right, so the codes alone still protect the account: warn its owner. */
const notifyOfTries = async (
  dependencies: SecondStepDependencies,
  person: Person,
  account: string,
): Promise<void> => {
  if (!(await mayNotify(dependencies.attempts, account))) return;
  const what =
    'Somebody entered your password, and then wrong codes until no more attempts were allowed. They know your password.';
  notifyOfChange(dependencies, person, what, 'Somebody knows your password');
};

/** The person whose password was right, as long as it is still their password and they still use codes. */
const holderOf = async (
  { tickets, persons, credentials, secondFactors }: SecondStepDependencies,
  asked: Asked,
  ticket: string,
): Promise<{ readonly person: Person; readonly step: FirstStep }> => {
  const { uid } = asked.interaction;
  const content = tickets.open('second step', [uid], ticket);
  const userId = Number(content?.userId ?? 0) as UserId;
  const person = await persons.byId(userId);
  const isSame =
    person?.status === 'active' && versionOf(await credentials.changedAt(userId)) === content?.passwordOf;
  if (person === undefined || !isSame || (await secondFactors.of(userId)) === undefined)
    throw new PageRefusal(overPage(uid));
  const step: FirstStep =
    content?.atS === undefined ? { by: 'pwd' } : { by: 'fed', atS: Number(content.atS) };
  return { person, step };
};

const versionOf = (changedAt: Date | undefined): string => changedAt?.toISOString() ?? '';

const overPage = (uid: string) =>
  messagePage({
    status: 400,
    title: 'This took too long',
    text: 'Sign in again.',
    link: { url: `/sign-in/${uid}`, text: 'Sign in' },
  });

type Filled = Pick<SecondFactorView, 'ticket' | 'problems' | 'status' | 'isAfterPassword'>;

const show = (dependencies: SecondStepDependencies, { response, asked }: Exchange, filled: Filled): void =>
  answerPage(
    response,
    secondFactorPage({
      ...filled,
      action: `/sign-in/${asked.interaction.uid}/second-factor`,
      clientName: clientNameOf(asked),
      formTargets: formTargetsFor(dependencies, asked),
    }),
  );
