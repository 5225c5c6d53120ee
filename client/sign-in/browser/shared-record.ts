import { type Page, throwBlocked } from './page.ts';

const DATABASE = 'annals';
const STORE = 'kept';

/**
 * Changes a record that all tabs of this origin share. A change is one transaction, so that the second of two
 * tabs sees the first one's change. `localStorage` does not guarantee that, because each process of the
 * browser has its own copy.
 */
export const changeRecord = <Value>(
  page: Pick<Page, 'indexedDB'>,
  key: string,
  /** Returns the new value. */
  change: Change<Value>,
): Promise<Value | undefined> => changeIn(page, key, change).catch(throwBlocked);

type Change<Value> = (now: Value | undefined) => Value | undefined;

const changeIn = async <Value>(
  { indexedDB }: Pick<Page, 'indexedDB'>,
  key: string,
  change: Change<Value>,
): Promise<Value | undefined> => {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  await new Promise<void>((resolve, reject) => {
    opening.onsuccess = () => resolve();
    opening.onerror = () => reject(opening.error);
  });
  const database = opening.result;
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite');
      const store = transaction.objectStore(STORE);
      const reading = store.get(key);
      let after: Value | undefined;
      reading.onsuccess = () => {
        const now = reading.result as Value | undefined;
        after = change(now);
        if (after !== now) store.put(after, key);
      };
      transaction.oncomplete = () => resolve(after);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
};
