//! Marks orders as inactive: the way out for those that are shown but cannot be filled.

use bourse_wire::OrderStatus;

use super::end_orders::{Request, end};
use super::types::Answer;
use crate::call::Call;
use crate::failure::Failure;

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    end(&call, "InvalidateOrders", OrderStatus::Inactive, request).await
}
