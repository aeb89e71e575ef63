import type { MessageStory } from '@gateway/core'

/** How often it was handed to a carrier, or may have been. */
export const attemptsOf = ({ refusedForNow, place }: MessageStory): number => {
  const isOut =
    (place.place === 'claimed' && place.marked) || (place.place === 'decided' && place.carrier !== undefined)
  return refusedForNow + (isOut ? 1 : 0)
}

export const isRefunded = ({ place }: MessageStory): boolean => place.place === 'decided' && place.refunded
