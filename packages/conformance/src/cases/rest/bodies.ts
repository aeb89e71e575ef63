/** 200kb (spec 7.1), as ruling 2.3 counts it. */
export const bodyMax = 204_800
