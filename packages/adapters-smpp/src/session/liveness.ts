/** What is to be done about the silence of the other side. */
export type LivenessStep = 'nothing' | 'enquire' | 'dead'

/**
 * Judged by when bytes last came, in milliseconds: after `silence` it is asked, after twice that without a byte it is dead. With the default of 15 s
 * a dead peer is found within 30 s and a look at the clock.
 */
export function livenessStep(
  receivedAt: number,
  enquiredAt: number | undefined,
  silence: number,
  now: number,
): LivenessStep {
  const silent = now - receivedAt
  if (silent < silence) return 'nothing'
  if (enquiredAt === undefined || enquiredAt < receivedAt) return 'enquire'
  return now - enquiredAt >= silence ? 'dead' : 'nothing'
}
