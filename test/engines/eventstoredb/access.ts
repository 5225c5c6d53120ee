import { type Metadata, ServerCredentials } from '@grpc/grpc-js';
import { ALL } from './faults.ts';
import { accessDenied, type Refusal, unauthenticated } from './refusals.ts';

/** The users of a secure server, by name; without any it is insecure, and asks nobody who they are. */
type Users = Readonly<Record<string, User>>;

type User = {
  readonly password: string;
  /** May read `$all`: an administrator, or a user whom an ACL of `$all` names. */
  readonly mayReadAll?: boolean;
  /** A role of the default ACL of streams denies it. */
  readonly mayAppend?: boolean;
};

/** The certificate of a secure server, and its users. */
export type Secure = { readonly cert: string; readonly key: string; readonly users?: Users };

export const credentialsOf = (secure: Secure | undefined): ServerCredentials =>
  secure === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [
        { private_key: Buffer.from(secure.key), cert_chain: Buffer.from(secure.cert) },
      ]);

/** The refusal of a call to read or append to a stream, if its user lacks the right. */
export const refusalByAccess = (
  users: Users | undefined,
  metadata: Metadata,
  { to, stream }: { readonly to: 'read' | 'append'; readonly stream?: string },
): Refusal | undefined => {
  if (users === undefined) return undefined;
  const [given] = metadata.get('authorization');
  if (given === undefined) return accessDenied();
  const [name = '', password] = decoded(String(given));
  const user = Object.hasOwn(users, name) ? users[name] : undefined;
  if (user === undefined || user.password !== password) return unauthenticated();
  if (to === 'append') return user.mayAppend === false ? accessDenied() : undefined;
  return stream === ALL && !user.mayReadAll ? accessDenied() : undefined;
};

/** To read a stream. */
export const demandAccess = (users: Users | undefined, metadata: Metadata, stream: string): void => {
  const denied = refusalByAccess(users, metadata, { to: 'read', stream });
  if (denied) throw denied;
};

const decoded = (authorization: string): readonly string[] =>
  Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
