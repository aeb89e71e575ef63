export type { Carrier } from '@gateway/core'
