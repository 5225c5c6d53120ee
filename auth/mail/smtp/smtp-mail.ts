import { createTransport } from 'nodemailer';
import { demandPlain, type Mail, MailNotSent, type Message } from '../mail.ts';

/** Timeouts for each step of the conversation with the server, and for the whole. */
const STEP_MAX_MS = 10_000;
const SEND_MAX_MS = 30_000;
/** The number of pooled connections, and of messages that one carries. */
const CONNECTIONS_MAX = 2;
const MESSAGES_PER_CONNECTION_MAX = 50;

type SmtpMailOptions = {
  /** `smtp:` starts in clear and upgrades to TLS if the server offers it; `smtps:` is TLS from the start. */
  readonly url: string;
  readonly from: string;
};

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Sends messages to a server by SMTP. Never sends a password in clear to another machine. */
export const openSmtpMail = ({ url, from }: SmtpMailOptions): Mail => {
  const { hostname, port, protocol, username, password } = new URL(url);
  const auth =
    username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    maxMessages: MESSAGES_PER_CONNECTION_MAX,
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure: protocol === 'smtps:',
    requireTLS: auth !== undefined && !LOOPBACK.has(hostname),
    ...(auth && { auth }),
    connectionTimeout: STEP_MAX_MS,
    greetingTimeout: STEP_MAX_MS,
    socketTimeout: STEP_MAX_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send = async ({ to, subject, text }: Message): Promise<void> => {
    // An object, so that the library parses nothing out of it.
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text, headers: AUTOMATIC });
  };
  return {
    reachesPeople: true,
    async send(message) {
      demandPlain(message);
      await within(SEND_MAX_MS, send(message)).catch((cause: unknown) => {
        throw new MailNotSent('the mail server did not accept the message', { cause: withoutPeople(cause) });
      });
    },
    [Symbol.asyncDispose]: async () => transport.close(),
  };
};

/** Prevents automatic replies (RFC 3834). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

const within = async <Result>(limitMs: number, work: Promise<Result>): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no end within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** The server's text may repeat the address; the codes are enough for an operator. */
const withoutPeople = (cause: unknown): Error => {
  const { code, command, responseCode } = cause as {
    code?: unknown;
    command?: unknown;
    responseCode?: unknown;
  };
  const facts = [code, command, responseCode].filter(
    (fact) => typeof fact === 'string' || typeof fact === 'number',
  );
  return new Error(facts.length === 0 ? 'it gave no reason' : facts.join(' '));
};
