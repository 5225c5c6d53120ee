import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../base/api.ts';
import { useApi } from '../base/asking.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';

/** A type of fields, with what a field of it can have. */
export type TypeFacts = {
  readonly type: string;
  readonly title: string;
  readonly takes: readonly string[];
  readonly options: readonly string[];
  readonly max?: number;
};

/** The declaration of the domain, as its files have it. */
export type Declaration = {
  readonly file: string;
  readonly types: readonly TypeFacts[];
  readonly roles: readonly string[];
  readonly aggregates: readonly { readonly kind: string; readonly path: string }[];
  /** The collections of the running server: their paths, and the names of their fields. */
  readonly served: Readonly<Record<string, { readonly path: string; readonly fields: readonly string[] }>>;
};

type Written = {
  readonly files: readonly { readonly path: string; readonly text: string; readonly isNew: boolean }[];
};

export const DECLARATION = '/develop/declaration';
const PREVIEW_AFTER_MS = 250;

type Preview = { readonly written: Written | undefined; readonly problem: ProblemFacts | undefined };

/** The files of a change as it is now, some time after the last key. */
export const usePreview = (change: object): Preview => {
  const api = useApi();
  const [preview, setPreview] = useState<Preview>({ written: undefined, problem: undefined });
  const text = JSON.stringify(change);
  useEffect(() => {
    let isOver = false;
    const show = (next: Partial<Preview>) =>
      isOver || setPreview((before) => ({ ...before, problem: undefined, ...next }));
    const timer = setTimeout(() => {
      api.post<Written>(`${DECLARATION}/preview`, JSON.parse(text)).then(
        ({ body }) => show({ written: body }),
        (error: unknown) => show({ problem: factsOf(error) }),
      );
    }, PREVIEW_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [api, text]);
  return preview;
};

const ASKED_EVERY_MS = 400;
const RESTART_MAX_MS = 60_000;

/** Resolves to the path of the collection, once the server that has read the files serves it. */
export const untilServed = async (api: Api, kind: string, field: string | undefined): Promise<string> => {
  const deadlineMs = performance.now() + RESTART_MAX_MS;
  while (performance.now() < deadlineMs) {
    const asked = await api.get<Declaration>(DECLARATION).catch(() => undefined);
    const found = asked?.body.served[kind];
    if (found !== undefined && (field === undefined || found.fields.includes(field))) return found.path;
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
  }
  throw new Error('The server has not restarted: its terminal says why.');
};
