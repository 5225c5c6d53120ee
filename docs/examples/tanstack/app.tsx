import { type Transaction, useLiveQuery } from '@tanstack/react-db';
import { type FormEvent, StrictMode, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { claims, session, submit, teams } from './claims.ts';

const STATES = { connecting: 'Connecting…', live: 'Live', refused: 'Refused' };

const useSignedIn = (): boolean => useSyncExternalStore(session.onChange, () => session.isSignedIn);

const Page = () => {
  const isSignedIn = useSignedIn();
  return (
    <>
      <header>
        <h1>Claims</h1>
        {isSignedIn ? (
          <button type="button" onClick={() => session.signOut()}>
            Sign out
          </button>
        ) : (
          <button type="button" onClick={() => session.signIn()}>
            Sign in
          </button>
        )}
      </header>
      <main>{isSignedIn ? <Claims /> : <p>Sign in to see your claims.</p>}</main>
    </>
  );
};

const Claims = () => {
  const { data } = useLiveQuery((query) =>
    query.from({ claim: claims }).orderBy(({ claim }) => claim.createdAt, 'desc'),
  );
  const { data: allTeams } = useLiveQuery((query) =>
    query.from({ team: teams }).orderBy(({ team }) => team.name),
  );
  const { state } = useSyncExternalStore(claims.utils.onConnection, claims.utils.connection);
  const [refusal, setRefusal] = useState('');

  /** The page has shown the change already; a refusal has taken it back. */
  const attempt = (change: () => Transaction) => {
    setRefusal('');
    change().isPersisted.promise.catch((error: Error) => setRefusal(error.message));
  };
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const team = teams.get(Number(form.get('team')));
    if (team === undefined) return;
    event.currentTarget.reset();
    const draft = {
      purpose: String(form.get('purpose')),
      status: 'draft',
      team: { id: team.id, name: team.name },
      createdAt: new Date().toISOString(),
    } as const;
    attempt(() => claims.insert(claims.utils.draft(draft)));
  };
  return (
    <>
      <p role="status">{STATES[state]}</p>
      {refusal !== '' && <p role="alert">{refusal}</p>}
      <form onSubmit={add}>
        <label>
          Purpose
          <input name="purpose" required maxLength={200} />
        </label>
        <label>
          Team
          <select name="team" required>
            {allTeams.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Add claim</button>
      </form>
      <ul>
        {data.map(({ id, purpose, status, $synced }) => (
          <li key={id} aria-busy={!$synced}>
            <span>{purpose}</span>
            <span>{status}</span>
            {status === 'draft' && (
              <>
                <button type="button" onClick={() => attempt(() => submit(id))}>
                  Submit
                </button>
                <button type="button" onClick={() => attempt(() => claims.delete(id))}>
                  Delete
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
};

await session.start();
const page = document.querySelector('#page');
if (page !== null)
  createRoot(page).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
