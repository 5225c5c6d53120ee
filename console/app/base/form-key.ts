import { useMemo } from 'preact/hooks';

type SendWithKey = <Answer>(content: unknown, send: (key: string) => Promise<Answer>) => Promise<Answer>;

/**
 * Sends a form with an idempotency key for each content: a form that is sent again after a lost response is executed
 * once, and a corrected form is another request. After a response, the same content means a new request.
 */
export const createFormKeys = (): SendWithKey => {
  const keys = new Map<string, string>();
  return async (content, send) => {
    const text = JSON.stringify(content) ?? '';
    const key = keys.get(text) ?? crypto.randomUUID();
    keys.set(text, key);
    const answer = await send(key);
    keys.clear();
    return answer;
  };
};

export const useFormKeys = (): SendWithKey => useMemo(createFormKeys, []);
