import { Problem } from '../../problem.ts';
import type { Prover } from '../dpop.ts';
import type { TokenOptions } from '../token-endpoint.ts';
import {
  answerIn,
  beginCodeRequest,
  type CodeAnswer,
  type CodeRequest,
  codeRequestOf,
} from './code-request.ts';
import { demandLocalPages } from './local-page.ts';
import type { Page } from './page.ts';
import { answerOfPopup, openPopup, popupState } from './popup.ts';

/** Asks a user to sign in: in this tab, or in a window of its own. */

type Parameters = Readonly<Record<string, string>> | undefined;
type Dependencies = {
  readonly page: Page;
  /** Identifies the session to other windows. */
  readonly name: string;
  readonly asked: CodeRequest;
  readonly endpoint: TokenOptions;
  /** A client that is not registered is known in development only. */
  readonly isRegistered: boolean;
  readonly prover: Prover | undefined;
  exchange(answer: CodeAnswer): Promise<void>;
};

export const openAsking = ({ page, name, asked, endpoint, isRegistered, prover, exchange }: Dependencies) => {
  const prepare = async (parameters: Parameters): Promise<CodeRequest> => {
    if (!isRegistered) await demandLocalPages({ ...endpoint, redirectUri: asked.redirectUri });
    return { ...asked, thumbprint: await prover?.thumbprint(), parameters };
  };
  let inPopup = new AbortController();
  return {
    /** The browser leaves this page; the tab keeps what the answer must match. */
    async byRedirect(key: string, returnTo: string, parameters: Parameters): Promise<void> {
      page.location.assign(await beginCodeRequest(page, key, { ...(await prepare(parameters)), returnTo }));
    },
    /** The newest window counts. Resolves once the user is signed in. */
    async byPopup(parameters: Parameters): Promise<void> {
      const popup = openPopup(page);
      inPopup.abort();
      inPopup = new AbortController();
      const { signal } = inPopup;
      try {
        const request = await prepare(parameters);
        const { address, pending } = await codeRequestOf(request, { state: popupState(), returnTo: '' });
        const answered = answerOfPopup(name, pending.state, signal);
        popup.location.href = address;
        const answer = answerIn(new URLSearchParams(await answered), pending, asked);
        if (answer instanceof Problem) throw answer;
        await exchange(answer);
      } finally {
        popup.close();
      }
    },
  };
};
