import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.ts';
import { html } from './html.ts';

/** The window in which a user signs in, beside the page that has the typed input. */
type Offer = { readonly url: string; readonly cancel: () => void };

let offer: Offer | undefined;
const OFFERED = 'console:sign-in-again';

const show = (next: Offer | undefined): void => {
  offer = next;
  dispatchEvent(new Event(OFFERED));
};

const CHANNEL = 'annals.console.sign-in';
const BESIDE = 'beside.';

/** The state of a request whose answer belongs to another window. */
export const besideState = (random: string): string => BESIDE + random;
export const isBeside = (state: string | null): state is string => state?.startsWith(BESIDE) === true;

type Answer = { readonly state: string; readonly code: string | null; readonly error: string | null };

/** In the other window: passes the answer on, and closes it. */
export const passOn = (answer: Answer): void => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(answer);
  channel.close();
  close();
};

let isDeclined = false;
/** A user who sends something wants to sign in after all; requests that the page makes by itself do not ask twice. */
export const offerAgain = (): void => {
  isDeclined = false;
};

/** In the page: offers the other window, and resolves to its answer, or undefined if the user wants none. */
export const answerFromBeside = async (url: string, state: string): Promise<Answer | undefined> => {
  if (isDeclined) return undefined;
  const channel = new BroadcastChannel(CHANNEL);
  try {
    return await new Promise<Answer | undefined>((resolve) => {
      channel.onmessage = ({ data }: MessageEvent<Answer>) => data.state === state && resolve(data);
      show({
        url,
        cancel: () => {
          isDeclined = true;
          resolve(undefined);
        },
      });
    });
  } finally {
    channel.close();
    show(undefined);
  }
};

const WINDOW = 'popup,width=520,height=760';

/** Shown over the page whose session has ended; the page stays as it is. */
export const SignInAgain = () => {
  const [shown, setShown] = useState(offer);
  useEffect(() => {
    const look = () => setShown(offer);
    addEventListener(OFFERED, look);
    look();
    return () => removeEventListener(OFFERED, look);
  }, []);
  if (shown === undefined) return null;
  return html`<${Dialog} title="Your session has ended" close=${shown.cancel}>
    <p>Sign in again to continue. Your input on this page is kept.</p>
    <div class="tools"><button type="button" class="primary" onClick=${() => open(shown.url, '_blank', WINDOW)}>Sign in</button><button type="button" onClick=${shown.cancel}>Not now</button></div>
  <//>`;
};
