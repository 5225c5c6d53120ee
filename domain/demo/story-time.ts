export const DAYS = 28;
export const DAY = 1_440;

/** The last minute of the story. */
export const LAST = DAYS * DAY - 1;

/** Minutes since the start of the story, for a day counted from 0 and a time such as `09:10`. */
export const timeOf = (day: number, time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return day * DAY + hours * 60 + minutes;
};
