import UPlot from 'uplot';
import type { Series } from './series.ts';

export type Drawn = {
  readonly series: Series;
  readonly text: (value: number) => string;
  readonly isWhole: boolean;
};

const HEIGHT_PX = 180;
/** Colours from the style, one per line; the dashes distinguish lines for colour-blind people. */
const COLOURS = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5'];
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [1, 5]];
const AXIS_PX = 52;
const CLOCK_PX = 28;
const EDGE_PX = 10;
const CLOCK_SPACE_PX = 80;
const WHOLE_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000,
];
const STEPS = [0.1, 0.2, 0.5, ...WHOLE_STEPS];

export type Drawing = Disposable & { setSeries(series: Series): void };

/** Draws lines into an element, as wide as it is. */
export const draw = (element: HTMLElement, drawn: Drawn): Drawing => {
  const plot = new UPlot(optionsOf({ ...drawn, width: element.clientWidth }), dataOf(drawn.series), element);
  const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
  sizes.observe(element);
  return {
    setSeries: (series) => plot.setData(dataOf(series)),
    [Symbol.dispose]() {
      sizes.disconnect();
      plot.destroy();
    },
  };
};

const dataOf = ({ times, lines }: Series): UPlot.AlignedData => [
  [...times],
  ...lines.map(({ values }) => [...values]),
];

const optionsOf = ({ series, text, isWhole, width }: Drawn & { readonly width: number }): UPlot.Options => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name);
  const axis: UPlot.Axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT_PX,
    padding: [EDGE_PX, EDGE_PX, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * HEADROOM, LEAST_HIGH)] } },
    series: [
      {},
      ...series.lines.map(({ label }, index) => ({
        label,
        stroke: colour(COLOURS[index] ?? '--ink'),
        dash: DASHES[index] ?? [],
        width: 2,
        points: { show: false },
      })),
    ],
    axes: [
      { ...axis, size: CLOCK_PX, space: CLOCK_SPACE_PX, values: clock },
      {
        ...axis,
        size: AXIS_PX,
        values: (_plot, values) => values.map(text),
        incrs: isWhole ? WHOLE_STEPS : STEPS,
      },
    ],
  };
};

const HEADROOM = 1.1;
const LEAST_HIGH = 1;
const MS_PER_SECOND = 1_000;
const MINUTE_S = 60;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const CLOCK_WITH_SECONDS = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Times less than a minute apart show seconds. */
const clock = (_plot: UPlot, times: number[]): string[] => {
  const [first = 0, second = MINUTE_S] = times;
  const format = second - first < MINUTE_S ? CLOCK_WITH_SECONDS : CLOCK;
  return times.map((seconds) => format.format(seconds * MS_PER_SECOND));
};
