import { html } from './html.ts';
import { kinds } from './kinds.ts';

/** The page of a subject’s history; undefined for subjects without one, such as sessions. */
export const pathOfSubject = (subject: string): string | undefined => {
  const [, kind, id] = /^(\w+)-(\d+)$/.exec(subject) ?? [];
  const path = kinds().find(({ name }) => name === kind)?.path;
  return path === undefined ? undefined : `/console/items/${path}/${id}`;
};

/** The item by its number, as a link. Its name cannot be read where it is parked, forged or gone. */
export const SubjectNumber = ({ subject }: { readonly subject: string }) => {
  const path = pathOfSubject(subject);
  return path === undefined ? html`<code>${subject}</code>` : html`<a href=${path}>${subject}</a>`;
};

const SCHEDULE = 'system:schedule-';
export const isSchedule = (actor: string | null): boolean => actor?.startsWith(SCHEDULE) === true;
/** The name of a part of the system. */
export const nameOfSystem = (actor: string): string =>
  isSchedule(actor) ? `schedule ${actor.slice(SCHEDULE.length)}` : actor.replace(/^system:(?:inbox-)?/, '');

const TOKEN = 'annals-token:';
const AGENT = '>';

/** Through what an actor did something: an application, a personal access token, or an agent of the actor. */
export const Through = ({ client }: { readonly client: string }) => {
  if (client.startsWith(TOKEN)) return html`the access token <code>${client.slice(TOKEN.length)}</code>`;
  const [application, agent] = client.split(AGENT);
  return agent === undefined
    ? html`<code>${client}</code>`
    : html`the agent <code>${agent}</code> on their behalf, from <code>${application}</code>`;
};
