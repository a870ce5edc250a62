//! Where tensors live: the CPU, or a graphics card if this build has support for it.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use burn::tensor;
use thiserror::Error;

/// A kind of device that a user can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor. Always there, and the one that the kernels are written for.
    #[default]
    Cpu,
    /// An NVIDIA card through CUDA.
    Cuda,
    /// Any card through Vulkan, Metal, DirectX or WebGPU.
    Wgpu,
    /// An Apple card through Metal.
    Metal,
}

/// A device that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No such device.
    #[error("there is no device `{0}`; devices are cpu, cuda, wgpu and metal")]
    Unknown(String),
    /// The program was built without it.
    #[error("this build has no {0}; build with --features {0}")]
    NotBuilt(Device),
}

/// The choice of [`Device::choose`].
static CHOSEN: OnceLock<Device> = OnceLock::new();

impl Device {
    /// From now on networks are made for this device. Only the first call counts: like the number of threads, the device is
    /// the same for all of a process.
    pub fn choose(self) {
        CHOSEN.get_or_init(|| self);
    }

    /// The device that networks are made for.
    pub(crate) fn chosen() -> tensor::Device {
        let chosen = CHOSEN.get().copied().unwrap_or_default();
        chosen.open().unwrap_or_else(|_| tensor::Device::flex())
    }

    /// All kinds of devices.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Cuda, Self::Wgpu, Self::Metal];

    /// The devices of this build.
    pub fn available() -> Vec<Self> {
        Self::ALL.into_iter().filter(|device| device.open().is_ok()).collect()
    }

    /// The device for tensors, without a tape. Of several cards, the first one.
    pub fn open(self) -> Result<tensor::Device, DeviceError> {
        match self {
            Self::Cpu => Ok(tensor::Device::flex()),
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(tensor::Device::cuda(tensor::DeviceIndex::Default)),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Ok(tensor::Device::wgpu(tensor::DeviceKind::DefaultDevice)),
            #[cfg(feature = "metal")]
            Self::Metal => Ok(tensor::Device::metal(tensor::DeviceKind::DefaultDevice)),
            #[allow(unreachable_patterns, reason = "reached unless all features are on")]
            other => Err(DeviceError::NotBuilt(other)),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
            Self::Metal => "metal",
        })
    }
}

impl FromStr for Device {
    type Err = DeviceError;

    /// Accepts only devices of this build.
    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let device = Self::ALL.into_iter().find(|device| device.to_string() == text);
        let device = device.ok_or_else(|| DeviceError::Unknown(text.to_owned()))?;
        device.open().map(|_| device)
    }
}

#[cfg(test)]
mod tests {
    use super::{Device, DeviceError};

    #[test]
    fn the_cpu_is_always_there() {
        assert_eq!("cpu".parse(), Ok(Device::Cpu));
        assert!(Device::available().contains(&Device::Cpu));
    }

    #[test]
    fn errors_name_the_remedy() {
        let error = "gpu".parse::<Device>().unwrap_err();
        assert_eq!(error.to_string(), "there is no device `gpu`; devices are cpu, cuda, wgpu and metal");
        assert_eq!(
            DeviceError::NotBuilt(Device::Wgpu).to_string(),
            "this build has no wgpu; build with --features wgpu"
        );
        #[cfg(not(feature = "wgpu"))]
        assert_eq!("wgpu".parse::<Device>(), Err(DeviceError::NotBuilt(Device::Wgpu)));
    }
}
