export { guideDocuments } from './guide-documents.ts'
