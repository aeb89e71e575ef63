/** An expression: a time in milliseconds since 1970, as an Instant is. */
export const milliseconds = (time: string): string => `floor(extract(epoch from ${time}) * 1000)::bigint`
