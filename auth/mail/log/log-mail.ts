import type { Log } from '#shared/log.ts';
import { demandPlain, type Mail } from '../mail.ts';

/** Prints messages where a developer sees them. They hold links that open accounts, so this is for development alone. */
export const openLogMail = (log: Log): Mail => ({
  reachesPeople: false,
  async send(message) {
    demandPlain(message);
    const { to, subject, text } = message;
    // In the line itself: a field of these names is kept out of logs, with good reason everywhere else.
    log.info(`Mail to ${to}, which nobody sends in development: ${subject}\n${text}`);
  },
  [Symbol.asyncDispose]: async () => {},
});
