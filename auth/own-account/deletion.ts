import { timingSafeEqual } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import * as z from 'zod';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import { reportErasure } from '#shared/erasure/report.ts';
import { fieldsOf } from '../accounts/form.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import { PATHS } from '../pages/account/account-page.ts';
import {
  CONFIRMATION,
  type DeletionView,
  deletionPage,
  erasedPage,
  lastAdministratorPage,
} from '../pages/account/deletion-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { messagePage } from '../pages/message-page.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import { deletePerson } from '../persons/person-table.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import { confirmPassword, hasPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { dropSession } from './end-access.ts';
import { type AccountPage, viewOf } from './pages.ts';
import { contextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  | 'domain'
  | 'provider'
  | 'pool'
  | 'tokens'
  | 'gateway'
  | 'credentials'
  | 'limits'
  | 'devices'
  | 'emailHash'
  | 'readProfile'
  | 'record'
  | 'seal'
  | 'endGrantsOfUser'
  | 'issuerUrl'
>;

const TYPED_MAX = 50;
const Deletion = z.object({
  confirmation: z.string().max(TYPED_MAX),
  password: z.string().max(PASSWORD_MAX),
});

const ERASED_PATH = '/account/erased';

export const deletion = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.deletion,
  isSensitive: true,
  demandsPassword: true,
  async show(visitor) {
    if (await isLastAdministrator(dependencies.pool, visitor)) return refuse(dependencies, visitor);
    await answer(dependencies, visitor, { problems: {}, confirmation: '' });
  },
  async submit(visitor) {
    const { confirmation, password } = fieldsOf(Deletion, visitor.request);
    if (confirmation.trim().toLowerCase() !== CONFIRMATION)
      return answer(dependencies, visitor, {
        problems: { confirmation: `Type “${CONFIRMATION}”.` },
        confirmation,
        status: 422,
      });
    const unconfirmed = await confirmPassword(dependencies, visitor, password);
    if (unconfirmed !== undefined)
      return answer(dependencies, visitor, {
        problems: { password: unconfirmed.text },
        confirmation,
        status: unconfirmed.status,
      });
    const deleted = await dependencies.gateway
      .send({ type: 'DeleteUser', userId: visitor.userId }, contextOf(visitor))
      .catch(refusalOf);
    if (deleted === 'last') return refuse(dependencies, visitor);
    if (deleted === 'busy' || deleted instanceof Rejection) {
      const [form, status] = deleted === 'busy' ? [UNCERTAIN, 503] : [deleted.message, 409];
      return answer(dependencies, visitor, { problems: { form }, confirmation, status });
    }
    // The directory does both as well, after a moment.
    await deletePerson(dependencies.pool, visitor.userId, deleted.version as Version);
    await dependencies.endGrantsOfUser(visitor.userId);
    dropSession(dependencies.provider, visitor);
    visitor.response.redirect(303, `${ERASED_PATH}?${receiptOf(dependencies.seal, visitor.userId)}`);
  },
});

const UNCERTAIN = 'The account may not have been deleted. Try again in a moment.';

const refusalOf = (error: unknown): 'last' | 'busy' | Rejection => {
  if (error instanceof CommandUnavailable) return 'busy';
  if (error instanceof Rejection && error.code === 'last_administrator') return 'last';
  if (error instanceof Rejection && error.code === 'conflict') return 'busy';
  // A hold on the user, or on what has their personal data; or an auditor, who changes nothing.
  if (error instanceof Rejection && /_held$|^forbidden$/.test(error.code)) return error;
  throw error;
};

const refuse = (dependencies: Dependencies, visitor: Visitor): void =>
  answerPage(visitor.response, lastAdministratorPage({ ...viewOf(dependencies, visitor), status: 409 }));

const answer = async (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<DeletionView, 'problems' | 'confirmation' | 'status'>,
): Promise<void> => {
  const view = { ...viewOf(dependencies, visitor), domain: dependencies.domain, ...filled };
  const isAsked = await hasPassword(dependencies, visitor.userId);
  answerPage(visitor.response, deletionPage({ ...view, hasPassword: isAsked }));
};

/**
 * A receipt that permits reading the report of one's erasure. It never expires, and nothing is stored for it.
 */
const receiptOf = (seal: RecordSeal, userId: UserId): URLSearchParams =>
  new URLSearchParams({ user: String(userId), receipt: macOf(seal, userId).toString('base64url') });

const macOf = (seal: RecordSeal, userId: UserId): Buffer => seal.hash('erasure receipt', String(userId));

/** How long the log is read for one report. */
const REPORT_MAX_MS = 30_000;
const RETRY_AFTER_S = 5;

type ReportDependencies = Pick<
  OwnAccountDependencies,
  'seal' | 'domain' | 'pool' | 'eventLog' | 'erasures' | 'issuerUrl'
>;

/** The report of an erasure for the holder of its receipt, who can no longer sign in. */
export const erasedRoutes = (dependencies: ReportDependencies): Router => {
  let isReporting = false;
  const show = async (request: Request, response: Response): Promise<void> => {
    const userId = holderOf(dependencies.seal, request);
    if (userId === undefined) throw new PageRefusal(NO_RECEIPT);
    // A report reads much of the log, so one runs at a time, without a queue.
    if (isReporting) {
      response.set('Retry-After', String(RETRY_AFTER_S));
      throw new PageRefusal(BUSY);
    }
    isReporting = true;
    const report = await reportErasure(dependencies, userId, AbortSignal.timeout(REPORT_MAX_MS)).finally(
      () => {
        isReporting = false;
      },
    );
    if (report === undefined) throw new PageRefusal(NO_RECEIPT);
    const receiptUrl = `${dependencies.issuerUrl}${ERASED_PATH}?${receiptOf(dependencies.seal, userId)}`;
    answerPage(response, erasedPage({ domain: dependencies.domain, report, receiptUrl }));
  };
  return Router().get(ERASED_PATH, show).all(ERASED_PATH, refuseOtherMethods('GET', 'HEAD'));
};

const holderOf = (seal: RecordSeal, { query: { user, receipt } }: Request): UserId | undefined => {
  if (typeof user !== 'string' || typeof receipt !== 'string') return undefined;
  const userId = pathId(user) as UserId | undefined;
  if (userId === undefined) return undefined;
  const given = Buffer.from(receipt, 'base64url');
  const expected = macOf(seal, userId);
  return given.length === expected.length && timingSafeEqual(given, expected) ? userId : undefined;
};

const NO_RECEIPT = messagePage({
  status: 404,
  title: 'There is no such receipt',
  text: 'Check that the address is complete.',
});
const BUSY = messagePage({
  status: 503,
  title: 'Too many requests',
  text: 'Another report is being created. Try again in a moment.',
});

type Administrator = Pick<Visitor, 'userId' | 'role'>;
type Queryable = Pick<Pool, 'query'>;

/**
 * Predicts whether the command role will refuse the deletion. Nobody can sign in to service accounts, which
 * have no address, and to deactivated accounts, so they do not count.
 */
const isLastAdministrator = async (
  database: Queryable,
  { userId, role }: Administrator,
): Promise<boolean> => {
  if (role !== 'admin') return false;
  const { rowCount } = await database.query(
    `select from auth.person where role = 'admin' and status = 'active' and email_hash is not null
       and deactivated_at is null and user_id <> $1 limit 1`,
    [userId],
  );
  return rowCount === 0;
};
