import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.ts';
import { html } from './html.ts';
import type { ProblemFacts } from './problem.ts';

/** A command that waits for the signature of the user, at the page where they sign. */
type Wanted = { readonly request: string; readonly href: string; readonly meaning: string };

type Offer = Wanted & { readonly done: (isSigned: boolean) => void };

let offer: Offer | undefined;
const OFFERED = 'console:sign';

const show = (next: Offer | undefined): void => {
  offer = next;
  dispatchEvent(new Event(OFFERED));
};

/** Undefined if a signature is not what is missing. */
export const wantedIn = ({ code, details }: ProblemFacts): Wanted | undefined => {
  const { request, href, meaning } = details ?? {};
  return code === 'signature_required' &&
    typeof request === 'string' &&
    typeof meaning === 'string' &&
    typeof href === 'string' &&
    /^https?:/.test(href)
    ? { request, href, meaning }
    : undefined;
};

/** Offers the page on which the user signs; resolves when they come back, to false if they do not want to. */
export const letSign = async (wanted: Wanted): Promise<boolean> => {
  try {
    return await new Promise<boolean>((done) => show({ ...wanted, done }));
  } finally {
    show(undefined);
  }
};

const WINDOW = 'popup,width=560,height=820';

/** Shown over the page that sends the command; the page stays as it is. */
export const SignCommand = () => {
  const [shown, setShown] = useState(offer);
  const [isOpened, setOpened] = useState(false);
  useEffect(() => {
    const look = () => {
      setShown(offer);
      setOpened(false);
    };
    addEventListener(OFFERED, look);
    look();
    return () => removeEventListener(OFFERED, look);
  }, []);
  useEffect(() => {
    if (shown === undefined || !isOpened) return undefined;
    // The user is back from the other window.
    const back = () => shown.done(true);
    addEventListener('focus', back);
    return () => removeEventListener('focus', back);
  }, [shown, isOpened]);
  if (shown === undefined) return null;
  const sign = () => {
    open(shown.href, '_blank', WINDOW);
    setOpened(true);
  };
  return html`<${Dialog} title="Your signature" close=${() => shown.done(false)}>
    <p>This needs your signature, with the meaning “<bdi>${shown.meaning}</bdi>”. You sign on a page of your account, with a passkey or with your password and a code. Come back afterwards: your input on this page is kept, and sent with the signature.</p>
    <div class="tools"><button type="button" class="primary" onClick=${sign}>Sign</button>${isOpened && html`<button type="button" onClick=${() => shown.done(true)}>I have signed</button>`}<button type="button" onClick=${() => shown.done(false)}>Cancel</button></div>
  <//>`;
};
