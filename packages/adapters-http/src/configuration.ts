/**
 * Functions that read descriptions of providers. They have their own entry point, because the libraries that check
 * descriptions load too slowly for a process that only sends.
 */
export {
  isUsable,
  placeholderNames,
  readDescription,
  type DescriptionProblems,
} from './description/read-description.ts'
export { descriptionSchema } from './description/schema.ts'
