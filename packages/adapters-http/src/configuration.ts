/**
 * Reading of descriptions. Apart from the rest, because the libraries that check them take longer to load
 * than a process that only sends should wait.
 */
export {
  isUsable,
  placeholderNames,
  readDescription,
  type DescriptionProblems,
} from './description/read-description.ts'
export { descriptionSchema } from './description/schema.ts'
