import { HttpProblem, type HttpProblemCode } from '#kernel/base/rest/http-problem.ts';

export type Scheme = 'Bearer' | 'DPoP';

/** The codes of RFC 6750 (section 3.1) and RFC 9449 (sections 7.1 and 9). */
type TokenError = 'invalid_request' | 'invalid_token' | 'invalid_dpop_proof';

const PROBLEMS = {
  invalid_request: 'malformed_request',
  invalid_token: 'invalid_token',
  invalid_dpop_proof: 'invalid_dpop_proof',
} as const satisfies Record<TokenError, HttpProblemCode>;

/**
 * The credentials in `Authorization` are invalid. The `WWW-Authenticate` of the response says the same in its
 * own terms.
 */
export class TokenRefusal extends HttpProblem {
  readonly error: TokenError;
  /** The scheme that the caller used. */
  readonly scheme: Scheme;

  constructor(error: TokenError, detail: string, { scheme, cause }: { scheme: Scheme; cause?: unknown }) {
    super(PROBLEMS[error], { detail, cause });
    this.name = 'TokenRefusal';
    this.error = error;
    this.scheme = scheme;
  }
}
