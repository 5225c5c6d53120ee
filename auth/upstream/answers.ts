import { UpstreamFailed } from './connection.ts';

/** A sentence for the page, with its status. */
export type Problem = { readonly problem: string; readonly status: number };

/** The failure at the provider, in the words of the person at the browser. */
export const problemOf = (error: unknown, label: string): Problem => {
  if (!(error instanceof UpstreamFailed)) throw error;
  switch (error.reason) {
    case 'cancelled':
      return {
        problem: `You were not signed in at ${label}. Try again, or sign in in another way.`,
        status: 422,
      };
    case 'unreachable':
      return {
        problem: `${label} cannot be reached just now. Try again in a moment, or sign in in another way.`,
        status: 503,
      };
    case 'unverified':
      return {
        problem: `The answer of ${label} could not be verified. Try again; if this continues, tell the operator of this site.`,
        status: 422,
      };
  }
};

export const TOO_LATE: Problem = {
  problem: 'This sign-in took too long, or was already used. Try again.',
  status: 422,
};

export const notFresh = (label: string): Problem => ({
  problem: `${label} did not show that you have signed in there just now, which is needed here. Use your password or a passkey; without either, get a link for a password.`,
  status: 403,
});

type Logged = { readonly reason: string; readonly error: string; readonly code: string | undefined };

/** Without the answer itself, which may contain tokens. */
export const loggedOf = (error: UpstreamFailed): Logged => {
  const cause = error.cause as { readonly name?: string; readonly message?: string; readonly code?: string };
  return { reason: error.reason, error: `${cause.name}: ${cause.message}`, code: cause.code };
};
