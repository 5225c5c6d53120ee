import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { PageRefusal } from '../accounts/page-refusal.ts';
import { messagePage } from '../pages/message-page.ts';

/** Where a provider sends browsers: one address for each provider, so that none can pass as another. */
export const returnPathOf = (name: string): string => `/account/with/${name}`;
export const linkAnswerPath = (name: string): string => `${returnPathOf(name)}/link`;
export const signInPathOf = (uid: string, name: string): string => `/sign-in/${uid}/with/${name}`;

/** The cookie of a sign-in is sent below its own path alone, so the state names the sign-in. */
const SIGN_IN_STATE = /^s\.([\w-]{1,60})\.[\w-]{1,1000}$/;
const LINK_STATE = /^l\.[\w-]{1,1000}$/;

export const signInState = (uid: string, ticket: string): string => `s.${uid}.${ticket}`;
export const linkState = (ticket: string): string => `l.${ticket}`;
export const ticketIn = (state: string): string => state.slice(state.lastIndexOf('.') + 1);

const PARAMETERS = ['code', 'state', 'iss', 'error'] as const;
const VALUE_MAX = 4_096;

/** The parameters of an answer; any other is left out. */
export const answerIn = (query: Readonly<Record<string, unknown>>): URLSearchParams =>
  new URLSearchParams(
    PARAMETERS.flatMap((name) => {
      const value = query[name];
      return typeof value === 'string' && value.length <= VALUE_MAX
        ? [[name, value] as [string, string]]
        : [];
    }),
  );

/** Leads from the address that the provider knows to the page that began. */
export const returnRoutes = (names: readonly string[]): Router => {
  const router = Router();
  for (const name of names)
    router
      .get(returnPathOf(name), ({ query }, response) => {
        const answer = answerIn(query);
        const state = answer.get('state') ?? '';
        const uid = SIGN_IN_STATE.exec(state)?.[1];
        if (uid === undefined && !LINK_STATE.test(state)) throw new PageRefusal(NOT_BEGUN);
        const path = uid === undefined ? linkAnswerPath(name) : `${signInPathOf(uid, name)}/answer`;
        response
          .set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
          .redirect(303, `${path}?${answer}`);
      })
      .all(returnPathOf(name), refuseOtherMethods('GET', 'HEAD'));
  return router;
};

const NOT_BEGUN = messagePage({
  status: 400,
  title: 'This sign-in was not started here',
  text: 'It was started elsewhere, or the answer is not complete. Go back to the application and start again.',
});
