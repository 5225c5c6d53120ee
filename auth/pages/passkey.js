/**
 * The script of pages with passkeys. A form with `data-passkey` contains the request for the authenticator of
 * this device. The script shows the form if the browser supports passkeys, and submits it with the answer.
 * Without the script everything works by password.
 */
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );

const toText = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const creationOf = (options) => ({
  ...options,
  challenge: toBytes(options.challenge),
  user: { ...options.user, id: toBytes(options.user.id) },
  excludeCredentials: (options.excludeCredentials ?? []).map((known) => ({
    ...known,
    id: toBytes(known.id),
  })),
});

const requestOf = (options) => ({ ...options, challenge: toBytes(options.challenge) });

const answerOf = ({ id, rawId, type, response }) => ({
  id,
  rawId: toText(rawId),
  type,
  response: {
    clientDataJSON: toText(response.clientDataJSON),
    ...(response.attestationObject
      ? {
          attestationObject: toText(response.attestationObject),
          transports: response.getTransports?.() ?? [],
        }
      : {
          authenticatorData: toText(response.authenticatorData),
          signature: toText(response.signature),
          userHandle: response.userHandle ? toText(response.userHandle) : '',
        }),
  },
});

const WORDS = {
  NotAllowedError: 'Nothing was chosen, or it took too long. Try again.',
  InvalidStateError: 'This device already has a passkey for your account.',
};

const prepare = (form) => {
  const options = JSON.parse(form.dataset.options);
  const problem = form.querySelector('[role=alert]');
  let waiting = new AbortController();

  const send = (credential) => {
    form.elements.credential.value = JSON.stringify(answerOf(credential));
    form.submit();
  };
  const ask = (more = {}) => {
    // A page makes one request at a time: clicking the button cancels the pending autofill request.
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    return form.dataset.passkey === 'create'
      ? navigator.credentials.create({ publicKey: creationOf(options), signal })
      : navigator.credentials.get({ publicKey: requestOf(options), signal, ...more });
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    problem.textContent = '';
    ask().then(send, (error) => {
      problem.textContent = WORDS[error.name] ?? `The browser refused: ${error.message}`;
    });
  });
  form.hidden = false;
  for (const instead of document.querySelectorAll('[data-without-passkey]')) instead.hidden = true;

  // Offers passkeys in the browser's autofill; if that fails, the button remains.
  const offer = async () => {
    if (form.dataset.passkey === 'offer' && (await PublicKeyCredential.isConditionalMediationAvailable?.()))
      send(await ask({ mediation: 'conditional' }));
  };
  offer().catch(() => {});
};

if (window.PublicKeyCredential && navigator.credentials)
  for (const form of document.querySelectorAll('form[data-passkey]')) prepare(form);
