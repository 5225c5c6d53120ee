/** Deliveries and counts follow an event within seconds: the pauses before each further request of a series. */
export const PAUSES_MS = [2_000, 4_000, 8_000, 16_000] as const;
/** The step after a series. */
export const CALM = PAUSES_MS.length;
/** In steady traffic each request finds a change. */
const STEADY_MIN_MS = 5_000;
const STEADY = PAUSES_MS.findIndex((pauseMs) => pauseMs >= STEADY_MIN_MS);

/** The step after an event or a change: a new series, or a longer series whose pauses stay as long. */
export const afterNews = (step: number): number => (step === CALM ? 0 : Math.min(step, STEADY));
