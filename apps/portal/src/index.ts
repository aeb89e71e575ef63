export {
  createPortalServer,
  portalNotFound,
  portalRouter,
  type PortalServerSettings,
  type PortalSettings,
} from './router.tsx'
