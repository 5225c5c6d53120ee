import { useEffect, useRef, useState } from 'preact/hooks';
import { html } from '../base/html.ts';
import type { Drawing } from './draw.ts';
import { type Series, seriesInWords } from './series.ts';

type PlotOptions = {
  readonly title: string;
  readonly series: Series;
  readonly text: (value: number) => string;
  readonly isWhole?: boolean;
};

type Drawer = typeof import('./draw.ts');

/** Loaded by the first page that has a plot. */
let loading: Promise<Drawer> | undefined;

/** Undefined until it is loaded; if it cannot be, the plot is its words, and the next page tries once more. */
const useDrawer = (): Drawer | undefined => {
  const [drawer, setDrawer] = useState<Drawer>();
  useEffect(() => {
    let isHere = true;
    loading ??= import('./draw.ts');
    loading.then(
      (loaded) => isHere && setDrawer(loaded),
      () => {
        loading = undefined;
      },
    );
    return () => {
      isHere = false;
    };
  }, []);
  return drawer;
};

/** Lines over time on a canvas, with the same in words for screen readers. */
export const Plot = ({ title, series, text, isWhole = false }: PlotOptions) => {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawing>(undefined);
  const drawer = useDrawer();
  const scheme = useScheme();
  const labels = series.lines.map(({ label }) => label).join();
  // New values of the same lines are set below, without creating the plot again.
  useEffect(() => {
    if (place.current === null || drawer === undefined) return undefined;
    const drawing = drawer.draw(place.current, { series, text, isWhole });
    drawn.current = drawing;
    return () => drawing[Symbol.dispose]();
  }, [labels, scheme, text, isWhole, drawer]);
  useEffect(() => drawn.current?.setSeries(series), [series]);
  return html`<figure class="plot">
    <figcaption><h2>${title}</h2>
      <ul>${series.lines.map(({ label, values }, index) => {
        const last = values.findLast((value) => value !== null);
        return html`<li><span class=${`key line-${index + 1}`}></span>${label} <strong>${last === undefined || last === null ? '–' : text(last)}</strong></li>`;
      })}</ul>
    </figcaption>
    <div class="canvas" ref=${place} role="img" aria-label=${`${title}. ${seriesInWords(series, text)}`}></div>
  </figure>`;
};

/** A plot takes its colours from the style when it is created, so another colour scheme needs a new one. */
const useScheme = (): boolean => {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const look = () => setDark(scheme.matches);
    scheme.addEventListener('change', look);
    return () => scheme.removeEventListener('change', look);
  }, []);
  return isDark;
};
