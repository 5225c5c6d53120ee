/** RFC 9457, as far as it is shown. */
export type ProblemFacts = {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly requestId?: string | undefined;
  /** The facts that a program needs to go on, by the code. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[] | undefined;
};

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly facts: ProblemFacts;

  constructor(facts: ProblemFacts, options?: ErrorOptions) {
    super(facts.title, options);
    this.facts = facts;
  }
}

export const problemOf = async (response: Response): Promise<ProblemFacts> => {
  const body = (await response.json().catch(() => ({}))) as Partial<ProblemFacts>;
  const {
    code = 'unknown',
    title = `The server answered ${response.status}.`,
    detail,
    details,
    errors,
  } = body;
  return {
    status: response.status,
    code,
    title,
    detail,
    details,
    errors,
    requestId: response.headers.get('x-request-id') ?? undefined,
  };
};

/** Advice by code or status; for unknown problems, whom to ask. */
export const adviceOf = ({ status, code, requestId }: ProblemFacts): string => {
  const known = ADVICE[code];
  if (known !== undefined) return known;
  if (status === 401) return SIGN_IN;
  if (status === 404) return 'It may have been deleted, or the address may be wrong. Go back to the list.';
  if (status === 429) return 'There were too many requests. Wait a few seconds, and try again.';
  if (status >= 500)
    return `Try again. If the error persists, look for the request ${requestId ?? ''} in the log of the server.`;
  return 'Reload the page, and try again.';
};

/** If a form is sent again, the page offers to sign in beside it. */
const SIGN_IN = 'Try again, and sign in when you are asked to.';

const ADVICE: Readonly<Record<string, string>> = {
  unreachable: 'Check your connection and that the server is running.',
  forbidden: 'Your role does not allow this. Ask an administrator, or sign in as another person.',
  signature_required: 'Send it again, and sign when you are asked to.',
  signature_invalid: 'Send it again, and sign again.',
  version_mismatch: 'Somebody else has changed the item. Reload the page, and try again.',
  insufficient_scope: 'You signed in before this release, or with fewer rights. Sign out, and sign in again.',
  unauthenticated: SIGN_IN,
  not_parked: 'Somebody else may have retried or skipped it: see the operator commands.',
  parked_at_other_version:
    'The item is now parked at a later event. Reload the list, and check that event first.',
  verification_under_way: 'Open the running verification in the list of operator commands.',
  too_many_orders: 'Wait until some have finished.',
  unavailable: 'The service is temporarily unavailable. Try again in a few seconds.',
  unsupported_media_type: 'Choose a file of one of these types.',
  body_too_large: 'Choose a smaller file, or write less.',
  too_many_streams: 'Close another page that shows live events. This page retries automatically.',
  client_built_in: 'The console is part of every installation: nobody can change or delete it.',
  client_id_taken: 'Choose another id.',
  webhook_disabled: 'To receive events again, enable the endpoint first.',
};

/** Any error as a problem. */
export const factsOf = (error: unknown): ProblemFacts =>
  error instanceof ApiProblem
    ? error.facts
    : { status: 0, code: 'unexpected', title: 'An error occurred on this page.', detail: String(error) };
