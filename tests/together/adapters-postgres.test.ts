import { together } from './together.ts'

await together('adapters-postgres')
