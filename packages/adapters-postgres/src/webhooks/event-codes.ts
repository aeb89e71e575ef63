export { bitsOf, EVENT_CODE, typeOfCode } from '../stored-codes.ts'
