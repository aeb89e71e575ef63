import type { MessageTrace } from '@gateway/core'

/** How often it was handed to a carrier, or may have been. */
export const attemptsOf = ({ refusedForNow, place }: MessageTrace): number => {
  const isOut =
    (place.place === 'claimed' && place.marked) || (place.place === 'decided' && place.carrier !== undefined)
  return refusedForNow + (isOut ? 1 : 0)
}

export const isRefunded = ({ place }: MessageTrace): boolean => place.place === 'decided' && place.refunded
