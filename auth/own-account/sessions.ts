import * as z from 'zod';
import { fieldsOf } from '../accounts/form.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { ALL_OTHERS, sessionsPage } from '../pages/account/sessions-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { endSessions } from './end-access.ts';
import { type AccountPage, goTo, viewOf } from './pages.ts';

type Dependencies = Pick<OwnAccountDependencies, 'pool' | 'tokens' | 'sessions' | 'record' | 'readAllowedClients'>;

const UID_MAX = 100;
const End = z.object({ session: z.string().max(UID_MAX) });

export const sessions = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.sessions,
  async show(visitor) {
    const open = await dependencies.sessions.of(visitor.userId);
    const shown = open.map(({ uid, signedInAtS, seen }) => ({
      uid,
      isThis: uid === visitor.sessionUid,
      browser: seen?.browser ?? 'A browser',
      network: seen?.network,
      signedInAtS,
      seenAtS: seen?.atS ?? signedInAtS,
    }));
    answerPage(visitor.response, sessionsPage({ ...viewOf(dependencies, visitor, DONE), sessions: shown }));
  },
  async submit(visitor) {
    const { session } = fieldsOf(End, visitor.request);
    const isMeant = (uid: string) => uid !== visitor.sessionUid && (session === ALL_OTHERS || uid === session);
    const ended = await endSessions(dependencies, visitor, ({ uid }) => isMeant(uid));
    goTo(visitor, PATHS.sessions, ended === 1 ? 'one' : 'several');
  },
});

const DONE = { one: 'The session has ended.', several: 'All other sessions have ended.' };
